"""The page of `undersigned inspect` in a real browser: what a person pastes, and what they see."""

from __future__ import annotations

import json
import threading
from itertools import pairwise

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from tests.browser.person import CONTENT, KEYS, write_received
from tests.keys import BODY

from undersigned_inspector.server import PageServer

HOSTILE = (
    "<script>document.title='hacked'</script>",
    "<img src=x onerror=\"document.title='hacked'\">",
    "<svg/onload=document.title='hacked'>",
    '"><iframe srcdoc="<script>parent.document.title=\'hacked\'</script>">',
    "javascript:document.title='hacked'",
    "{{constructor.constructor('document.title=1')()}}",
)
CONTRAST = """
const luminance = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((one) => one / 255)
    .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const back = getComputedStyle(at).backgroundColor;
    if (!back.startsWith("rgba(0, 0, 0, 0")) return back;
  }
  return "rgb(255, 255, 255)";
};
return [...document.querySelectorAll("body *")]
  .filter((one) => one.checkVisibility())
  .filter((one) => [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
  .filter((one) => !behind(one).startsWith("color("))
  .map((one) => {
    const [a, b] = [luminance(getComputedStyle(one).color), luminance(behind(one))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), one.tagName, one.textContent.slice(0, 40)];
  })
  .filter(([ratio]) => ratio < 4.5);
"""


def test_failing_step_is_open_and_the_verdict_has_the_focus(person):
    person.explain(write_received())
    assert person.text("#verdict") == "Rejected at step 10, target, authority and signature: request_signature_invalid"
    assert person.driver.switch_to.active_element.get_attribute("id") == "verdict"
    (opened,) = person.all("#steps details[open]")
    assert opened.text.startswith("10. target, authority and signature failed\nrequest_signature_invalid:")
    assert [item.text.split()[0] for item in person.all("#steps > .passed")] == [f"{step}." for step in range(9)]


def test_first_differing_byte_is_marked_in_both_bases(person):
    person.explain(write_received())
    assert [cell.text for cell in person.all("#bases thead th")] == [
        "Line",
        "Rebuilt from the request",
        "Signed by the sender",
    ]
    assert [mark.text for mark in person.all("#bases mark")] == ["/", "%"]
    assert [row.text.split()[0] for row in person.all("#bases tr.differs")] == ["2"]
    assert person.text("#difference") == "The bases first differ at byte 59: line 2, column 44."


def test_cause_is_shown_first(person):
    person.explain(write_received())
    assert person.text("#cause").startswith("Cause: decoded octets: the sender signed /a%2Fb; you received /a/b. ")


def test_verified_request_is_shown_as_such(person):
    person.explain(write_received("/a%2Fb?x=1"))
    assert person.text("#verdict") == "Verified: every checked step passes"
    assert person.all("#steps details[open]") == []
    assert not person.one("#cause").is_displayed()


def test_canonicalization_is_shown_rule_by_rule(person):
    person.explain(write_received("/a/../a%2fb?x=1"))
    rules = [item.text for item in person.all("#rules > li")]
    assert any(rule.startswith("dot-segments") and "/a/../a%2fb" in rule for rule in rules)
    assert any(rule.startswith("hex-case") and rule.endswith("/a%2Fb?x=1") for rule in rules)
    assert person.text("#canonical") == "Canonical form: https://seller.example.com/a%2Fb?x=1"


def test_component_under_the_pointer_lights_its_parts(person):
    person.explain(write_received())
    buttons = {button.text: button for button in person.all("#components button")}
    ActionChains(person.driver).move_to_element(buttons['"@target-uri"']).perform()
    assert person.lit() == ["/a/b", "?x=1", "seller.example.com"]
    ActionChains(person.driver).move_to_element(buttons['"content-digest"']).perform()
    assert person.lit()[-1] == CONTENT
    ActionChains(person.driver).move_to_element(person.one("#verdict")).perform()
    assert person.lit() == []


def test_part_under_the_pointer_lights_its_components(person):
    person.explain(write_received())
    part = next(piece for piece in person.all("#message span") if piece.text == "/a/b")
    ActionChains(person.driver).move_to_element(part).perform()
    assert [button.text for button in person.all("#components .lit")] == ['"@target-uri"']


def test_page_is_used_with_the_keyboard_only(person):
    person.press(Keys.TAB)
    assert person.driver.switch_to.active_element.text == "Skip to the form"
    person.press(Keys.ENTER)
    person.tab_to(lambda focused: focused.get_attribute("id") == "request")
    person.insert(write_received())
    person.tab_to(lambda focused: focused.get_attribute("id") == "keys")
    person.insert(KEYS)
    person.press(Keys.CONTROL, Keys.ENTER)
    person.see_result()
    assert person.driver.switch_to.active_element.get_attribute("id") == "verdict"
    step = person.tab_to(lambda focused: focused.text.startswith("10. "))
    person.press(Keys.ENTER)
    assert person.all("#steps details[open]") == []
    person.press(Keys.ENTER)
    assert len(person.all("#steps details[open]")) == 1
    assert step.tag_name == "summary"
    button = person.tab_to(lambda focused: focused.text == '"@method"')
    assert person.lit() == ["POST"]
    assert person.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    person.press(Keys.ENTER)
    person.press(Keys.TAB)
    assert button.get_attribute("aria-pressed") == "true"
    assert "POST" in person.lit()


def test_every_control_has_an_accessible_name_and_every_section_a_heading(person):
    person.explain(write_received())
    person.one("form summary").click()
    controls = person.all("textarea, input, select, button, a, summary, [tabindex='0']")
    assert [control.get_attribute("outerHTML") for control in controls if not control.accessible_name] == []
    sections = [section for section in person.all("section") if section.is_displayed()]
    assert all(section.accessible_name for section in sections)
    levels = [int(heading.tag_name[1]) for heading in person.all("h1, h2, h3")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert person.run("return document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_can_be_read(person, scheme):
    person.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    person.explain(write_received())
    back = person.run("return getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") is (scheme == "light")
    assert person.run(CONTRAST) == []


def test_narrow_page_does_not_scroll_sideways(person):
    person.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    person.explain(write_received())
    assert person.run("return document.documentElement.scrollWidth") <= 360
    person.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_does_nothing(person, text):
    name = "".join(one for one in text if one.isalnum())
    request = write_received(
        f"/{name}?{text.replace(' ', '+')}", f"X-A: {text}", f"{text}: x" if text.isalnum() else "X-B: b"
    )
    person.one("form summary").click()
    person.paste("#base", f'"@method": {text}')
    person.explain(request.replace(CONTENT, text.ljust(len(CONTENT))), keys=KEYS)
    assert text in person.text("#message")
    assert text in person.text("#bases")
    assert person.driver.title == "undersigned inspect"
    assert person.all("#result script, #result img, #result svg, #result iframe, #result a") == []


def test_hostile_text_that_cannot_be_used_is_not_shown_at_all(person):
    person.paste("#request", HOSTILE[1])
    person.one("form button[type=submit]").click()
    person.until(lambda: person.text("#request-error"))
    assert "onerror" not in person.text("#request-error")
    assert person.one("#request").get_attribute("aria-invalid") == "true"
    assert person.driver.switch_to.active_element.get_attribute("id") == "request"
    assert person.run("return performance.getEntriesByType('resource').length") > 0
    person.complaints()  # the status 422 is written to the console


def test_fault_in_a_closed_part_of_the_form_opens_it(person):
    person.paste("#request", write_received())
    person.one("form summary").click()
    person.paste("#now", "yesterday")
    person.one("form summary").click()
    person.one("form button[type=submit]").click()
    person.until(lambda: person.text("#now-error"))
    assert person.driver.switch_to.active_element.get_attribute("id") == "now"
    person.complaints()


def test_content_is_read_from_a_file_to_the_byte(person, tmp_path):
    file = tmp_path / "body"
    file.write_bytes(BODY)
    person.one("form summary").click()
    person.one("#file").send_keys(str(file))
    person.explain(write_received("/a%2Fb?x=1", body=""))
    assert person.text("#verdict") == "Verified: every checked step passes"


def test_nothing_is_fetched_from_elsewhere(person, page_url):
    person.explain(write_received())
    fetched = person.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert {url.removeprefix(page_url) for url in fetched} - {"icon.svg"} == {"page.css", "page.js", "about", "explain"}


def test_policy_of_the_page_stops_scripts_markup_and_connections(person):
    blocked = person.driver.execute_async_script(
        """
        const done = arguments[0];
        const found = {};
        document.addEventListener("securitypolicyviolation", (event) => { found[event.effectiveDirective] = true; });
        const script = document.createElement("script");
        try { script.text = "document.title = 'hacked'"; } catch { found["trusted script"] = true; }
        try { document.body.innerHTML += "<b>x</b>"; } catch { found["trusted markup"] = true; }
        fetch("http://127.0.0.1:1/").catch(() => setTimeout(() => done(found), 100));
        """
    )
    assert blocked.keys() >= {"trusted script", "trusted markup", "connect-src"}
    assert person.driver.title == "undersigned inspect"
    assert person.complaints() != []


def test_page_whose_process_has_ended_says_so(person):
    server = PageServer()
    thread = threading.Thread(target=server.run)
    thread.start()
    person.open(server.url)
    server.stop()
    thread.join(10)
    person.paste("#request", json.dumps(write_received()))
    person.one("form button[type=submit]").click()
    person.until(lambda: person.text("#request-error"))
    assert "does not answer" in person.text("#request-error")
    person.complaints()

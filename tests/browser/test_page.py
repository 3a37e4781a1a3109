"""The page of `undersigned inspect` in a real browser: what a person pastes, and what they see."""

from __future__ import annotations

from itertools import pairwise

import pytest
from selenium.webdriver.common.keys import Keys
from tests.browser.person import CONTENT, KEYS, write_received

HOSTILE = (
    "<script>document.title='hacked'</script>",
    "<img src=x onerror=\"document.title='hacked'\">",
    "<svg/onload=document.title='hacked'>",
    '"><iframe srcdoc="<script>parent.document.title=\'hacked\'</script>">',
    "</textarea><script>document.title='hacked'</script>",
    "javascript:document.title='hacked'",
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
  .map((one) => {
    const [a, b] = [luminance(getComputedStyle(one).color), luminance(behind(one))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), one.tagName, one.textContent.slice(0, 40)];
  })
  .filter(([ratio]) => ratio < 4.5);
"""


def test_rejected_request_is_explained(person):
    person.explain(write_received())
    assert person.text("#verdict") == "Rejected at step 10, target, authority and signature: request_signature_invalid"
    assert person.text(".cause").startswith("Cause: decoded octets: the sender signed /a%2Fb; you received /a/b. ")
    [failed] = person.all(".steps .failed")
    assert failed.text.startswith("10. target, authority and signature failed\nrequest_signature_invalid:")
    assert [item.text.split()[0] for item in person.all(".steps .passed")] == [f"{step}." for step in range(9)]
    assert [mark.text for mark in person.all("mark")] == ["/", "%"]
    assert [row.text.split()[0] for row in person.all("tr.differs")] == ["2"]
    assert [part.text for part in person.all("pre u")][:4] == ["POST", "/a/b", "?x=1", "seller.example.com"]
    assert person.text(".canonical") == "Canonical form: https://seller.example.com/a/b?x=1"


def test_verified_request_is_shown_as_such(person):
    person.explain(write_received("/a%2Fb?x=1"))
    assert person.text("#verdict") == "Verified: every checked step passes"
    assert person.all(".failed, .cause") == []


def test_page_is_used_with_the_keyboard_only(person):
    person.tab_to(lambda focused: focused.get_attribute("id") == "request")
    person.insert(write_received())
    person.tab_to(lambda focused: focused.get_attribute("id") == "keys")
    person.insert(KEYS)
    person.tab_to(lambda focused: focused.tag_name == "button")
    assert person.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    person.press(Keys.ENTER)
    person.see_result()
    assert person.one("#request").get_attribute("value") == write_received()


def test_every_control_has_a_name_and_headings_have_no_gaps(person):
    person.explain(write_received())
    person.one("summary").click()
    controls = person.all("textarea, input, select, button, a, summary")
    assert [control.get_attribute("outerHTML") for control in controls if not control.accessible_name] == []
    levels = [int(heading.tag_name[1]) for heading in person.all("h1, h2, h3")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert person.run("return document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_can_be_read(person, scheme):
    person.prefer(scheme)
    person.explain(write_received())
    back = person.run("return getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") is (scheme == "light")
    assert person.run(CONTRAST) == []


def test_narrow_page_does_not_scroll_sideways(person):
    size = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    person.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    person.explain(write_received())
    assert person.run("return document.documentElement.scrollWidth") <= 360
    person.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_does_nothing(person, text):
    person.one("summary").click()
    person.paste("#base", f'"@method": {text}')
    request = write_received(f"/?{text.replace(' ', '+')}", f"X-A: {text}")
    person.explain(request.replace(CONTENT, text.ljust(len(CONTENT))))
    assert text in person.text("pre")
    assert text in person.text("table")
    assert person.driver.title == "undersigned inspect"
    assert person.all("script, img, svg, iframe, #result a") == []


def test_text_that_cannot_be_used_is_named_beside_its_field(person):
    person.paste("#request", HOSTILE[1])
    person.one("form button").click()
    person.until(lambda: person.all(".error"))
    assert "onerror" not in person.text(".error")
    assert person.one("#request").get_attribute("value") == HOSTILE[1]


def test_nothing_is_fetched_from_elsewhere_and_no_script_runs(person, page_url):
    person.explain(write_received())
    fetched = person.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert {url.removeprefix(page_url) for url in fetched} - {"icon.svg"} == {"page.css"}
    person.run(
        "const one = document.createElement('script'); one.text = \"document.title = 'hacked'\"; "
        "document.body.append(one);"
    )
    assert person.driver.title == "undersigned inspect"
    assert person.complaints() != []

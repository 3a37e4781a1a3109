"""Keys whose private half is published, in examples and test vectors of specifications: anyone can sign with them."""

from typing import Final

TEST_KEYS: Final = frozenset(
    {
        "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",  # RFC 9421 B.1.4, test-key-ed25519
        "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA",  # RFC 9421 B.1.2, test-key-rsa-pss
        "BHj8s0GPnMEQtkaULIM-PLgEhLBbuGUQ1vMxmBWZzEo",  # RFC 9421 B.1.1, test-key-rsa
        "ydQXMtvbsOsZyFir-Y7A8t7fKEM1gbKPvyFkdpu4fvI",  # RFC 9421 B.1.3, test-key-ecc-p256
        "bae70048ae00a0691963fdf8d60600655c0d989f3f99ba99ad149c9ed89a2bc3",  # RFC 9421 B.1.5, test-shared-secret
        "UzIDv8saQJiAhqGpwv_q3rYCRiDqkoR_6ISmmHffTC0",  # AdCP 3.2.4, test-ed25519-2026
        "kYxXVm3IzZuXqYpEcHzUfSHiaCLt1XU9tWDtwBK9YlI",  # AdCP 3.2.4, test-es256-2026
        "3eGq4Kr63h2gUSD1CmszeL25ipsyVfVR5ZJwzk-c4_8",  # AdCP 3.2.4, test-gov-2026
        "JoUQQAQt8Exl8R1HSPNa-GICLG89uMxP3nABQ9XengI",  # AdCP 3.2.4, test-revoked-2026
        "YYhIoEIzEuDUDimdho_KDwciVx8epx0X10UtdpCCKgg",  # AdCP 3.2.4, test-ed25519-webhook-2026
        "O-0pctemIOWm_AYxtgvFbtLK-snekisKoA5LwmDN_sQ",  # AdCP 3.2.4, test-es256-webhook-2026
        "0XL8P7Fzf4FOIzvMbfG5KGFjJ61q_tMK0AoKY7sWW-E",  # AdCP 3.2.4, test-wrong-purpose-2026
        "gAI4WdqLIGYcGs0k6BzQacqjUgkO_7HfFk9VOoEG7Sk",  # AdCP 3.2.4, test-response-purpose-2026
        "bcteWFViCCvEAhy3CCli7kmuTR7Z9APtp6tcnvSker8",  # AdCP 3.2.4, test-revoked-webhook-2026
        "9NGYr3UpHBoHRsFuZSkCJhVdxfnJKnhNN2rupg4kfkk",  # draft-ietf-wimse-http-signature-07, svc-a-key
        "NIYMyBjsDjyBC9P537D6ITzkpD8NtRji9yapEzC66mQ",  # RFC 9635 7.3, gnap-rsa
        "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",  # RFC 8032 7.1, TEST 1; RFC 8037 A.1
        "FtIu-VbGrfe_KB6CH7GNwODB72MNxj_ml11dEvO-7kk",  # RFC 8032 7.1, TEST 2
        "FVV5umTuau890q59V-4Ga_R6qWb7ON_ivJc4EjvCwTM",  # RFC 8032 7.1, TEST 3
        "lZI1vM7tnlYapaF5-cy86ptx0tT_8Av721hhiNB5ti4",  # RFC 8032 7.1, TEST 1024
        "iiDHHfFVNG6ICMUTsicgrWf1igtFYZEK73xlobt1ah4",  # RFC 8032 7.1, TEST SHA(abc); 7.3
        "2bVIQ9_u0wVxBsBwmxK3F42rRFnt_dA7CZQ3u_2RKZY",  # RFC 8032 7.2, foo and bar
        "qz1FYaobwnFjkaNLccv-mFXe7gu45Zo72p2XqE3Is20",  # RFC 8032 7.2, foo3
        "3YZxBJ12jO3n_mXt_q-j_Z-TFP1vt-NiI3OCf-fEnHQ",  # RFC 8410 10.3
        "DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0",  # RFC 6979 A.2.5, P-256
        "l2tfkSzhekdOr24I18E1O_-49AlK14MTo7OxJMS7-HI",  # RFC 6979 A.2.6, P-384
        "Fa5JHFzFB8yHv0Dk3rGTgtCQPXPr3q8midyfylf8CUU",  # RFC 9500 2.1, testRSA2048
        "LIstkoCvByn4jk8oZPvigQkzTzO9UwnGnE-VMlkZvYQ",  # RFC 9500 2.3, testECCP256
        "u88se-xodYvJqpVtfxKIhE6bv2S6Z9hy1ikqIcPciAE",  # RFC 9500 2.1, testRSA4096
        "TLOWIUBG7ALE2U13WMeEAErmpD48gp8MllKbX_zBARE",  # RFC 9500 2.3, testECCP384
        "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",  # RFC 7517 A.2, RSA
        "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s",  # RFC 7517 A.2, P-256
        "0493678b874be5feb93b5c7e4c55f306574d99b11ae2312816cfacdba75a6a8c",  # RFC 7515 A.1, shared secret
        "IsUn6_e04MaShXFIISMp4kG62LWzMIPy_MvSA5pJgX8",  # RFC 7515 A.2
        "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",  # RFC 7515 A.3
        "xtIsOV1FqKH77AI_A3jdTg5QfdabzqI-LNpYTPi0IgI",  # RFC 7516 A.1
        "_K0fXS8wlsT7Tn3vvZrs9qdKUIqi5AxQ5EVk41xi_BM",  # RFC 7516 A.2
        "9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI",  # RFC 7520 3.3
        "9c0a110df186ec6e3ed4adf151ff36353ca8f81312cf57d1004531d2c89da4da",  # RFC 7520 3.5, shared secret
        "_GK0r6GCoJt9zcssg9lay4obIxgCq05ntiRymRHADSU",  # RFC 7518 C, Alice
        "Vy57XrArUrW0NbpI12tEzDHABxMwrTh6HHXRenSpnCo",  # RFC 7518 C, Bob
        "VqahBPDGikK6KyrDxEnhWUo_lkVjVSvxHuHMK1-R0PE",  # RFC 8291 5, receiver
        "nHE5fEJimstULUDGUTusUEJUpQi-p7faf3TiIE6ZNsI",  # RFC 8291 5, sender
        "KUT6jPUqqz4OC7G_YIiZmEPyqnogLqA8iZOfYR9hmlk",  # RFC 8392 A.2.3
        "xNnfOFTMgZSRM3KtGHQqavZGWGF00Fe54LZBYCIxr88",  # RFC 8152 C.7.2, kid 11
        "HsSFalww3yP-dO-lWGYgFcyV5H22oScIFc4V2Y6GOto",  # RFC 8152 C.7.2, meriadoc.brandybuck
    }
)
"""The `replay_name` of each: the JWK thumbprint of a public key, or a digest of a shared secret."""

TEST_KEY_FAULT: Final = "the key is a published test key: anyone can sign with it"

// Written by bindings/tools/generate-types.mjs. Do not edit.

/** The bundled models by name, with the SHA-256 of their files. */
export const bundledModels: Readonly<Record<string, string>> = {
  'de-en': 'sha256-vwlnjdP6XCkWcPrFTjmBK0Rb9kKZgdbxAwO+zwonFAI=',
  'en-de': 'sha256-1xmne+jsKy60t582NQuyDF45gcOYfs1rzyAgMxCd2jo=',
  'en-zh': 'sha256-ugn7+7HQvN5B2rKi0KaXj44ZpqjApRrSm0+rKYCUYiA=',
  'fr-en': 'sha256-XPMwB+cYrJ7DE6GWRVka/gczEc+QIFhyRN1BJjTQH+A=',
  'zh-en': 'sha256-BWW2d6Q5h1K4cYMocPbAm/lswBkgC6zlkW+Kuhtd+bg=',
};

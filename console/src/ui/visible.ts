/**
 * Text from DNS, from nodes or from other users, so that it cannot look like something else: what prints nothing or turns the
 * direction of what follows (controls, zero widths, bidi marks, lone surrogates) stands there by its number.
 */
export function visible(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

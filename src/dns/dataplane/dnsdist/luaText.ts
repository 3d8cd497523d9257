const PLAIN = /^[A-Za-z0-9.:[\]+/=_ -]$/;

/** Returns a text as a quoted Lua string. All but a few harmless characters are escaped, so it cannot become code. */
export const luaText = (text: string): string =>
  `"${[...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return PLAIN.test(character) ? character : `\\${String(byte).padStart(3, '0')}`;
    })
    .join('')}"`;

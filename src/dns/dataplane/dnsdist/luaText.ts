const PLAIN = /^[A-Za-z0-9.:[\]+/=_ -]$/;

/** Any text as a Lua string that people can read, in which all that could be more than text is escaped: none of it becomes Lua. */
export const luaText = (text: string): string =>
  `"${[...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return PLAIN.test(character) ? character : `\\${String(byte).padStart(3, '0')}`;
    })
    .join('')}"`;

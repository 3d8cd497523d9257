/** Returns the pattern of a text without control characters. Use it with an equal `maxLength`, which is documented. */
export const plainText = (maxCharacters: number): string =>
  `^[^\\u0000-\\u001f\\u007f-\\u009f]{0,${maxCharacters}}$`;

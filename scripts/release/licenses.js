/** Licences allowed for shipped packages: they require only that their text is distributed with the code. */
export const SHIPPED_LICENSES = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
];

/**
 * Licences allowed for tools, which are not distributed: also those with conditions on modified copies, or without
 * conditions.
 */
export const TOOL_LICENSES = [...SHIPPED_LICENSES, 'CC0-1.0', 'MPL-2.0', 'Python-2.0'];

/** Whether an SPDX expression can be satisfied with these licences alone. */
export const isAllowed = (expression, licenses) =>
  typeof expression === 'string' &&
  expression
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((license) => licenses.includes(license)));

/** Licences that ask for no more than their text beside what is passed on: those of what is shipped. */
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

/** Of tools, which are not passed on, also those that ask for changes to themselves, or for nothing. */
export const TOOL_LICENSES = [...SHIPPED_LICENSES, 'CC0-1.0', 'MPL-2.0', 'Python-2.0'];

/** Whether an expression of SPDX can be met by these licences alone. */
export const isAllowed = (expression, licenses) =>
  typeof expression === 'string' &&
  expression
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((license) => licenses.includes(license)));

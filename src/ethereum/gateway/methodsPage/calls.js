// What the page sends and shows, without the page: text in, text out.

/**
 * @typedef {{ readonly name: string, readonly text: string, readonly required: boolean }} Box
 * @typedef {{ readonly params: unknown[] } | { readonly faults: string[] }} ReadParams
 */

/** So much of an answer is shown: a browser takes minutes for megabytes. */
const MAX_SHOWN_CHARS = 200_000;
/** What can begin a text that is meant as JSON; other words (latest, 0x…) are texts without their quotation marks. */
const BEGINS_JSON = /^[[{"]/;

/**
 * The value that somebody has typed in. Throws SyntaxError where it is meant as JSON and is none.
 *
 * @param {string} text
 * @returns {unknown}
 */
function typedValue(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (BEGINS_JSON.test(text)) throw error;
    return text;
  }
}

/**
 * Parameters by position, from what stands in the boxes: one that is empty is left out, and null where others follow it.
 *
 * @param {readonly Box[]} boxes
 * @returns {ReadParams}
 */
export function paramsOf(boxes) {
  const params = [];
  const faults = [];
  const last = boxes.findLastIndex(({ text }) => text.trim() !== '');
  for (const [i, { name, text, required }] of boxes.entries()) {
    const trimmed = text.trim();
    if (trimmed === '' && required) faults.push(`${name} is empty; it is required`);
    if (i > last) continue;
    try {
      params.push(trimmed === '' ? null : typedValue(trimmed));
    } catch (error) {
      faults.push(`${name} is no JSON: ${error instanceof Error ? error.message : error}`);
    }
  }
  return faults.length > 0 ? { faults } : { params };
}

/**
 * @param {string} method
 * @param {readonly unknown[]} params
 */
export const bodyOf = (method, params) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** @param {string} text */
const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * The call as a command for a shell, with the key as a variable.
 *
 * @param {{ readonly url: string, readonly body: string, readonly hasKey: boolean }} call
 */
export function curlOf({ url, body, hasKey }) {
  const parts = ['curl', quote(url), '-H', quote('Content-Type: application/json')];
  if (hasKey) parts.push('-H', '"Authorization: Bearer $API_KEY"');
  return [...parts, '--data', quote(body)].join(' ');
}

/**
 * JSON on several lines; anything else as it is.
 *
 * @param {string} text
 */
export function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/**
 * The beginning of a text that is too long to be shown, and how much is left out.
 *
 * @param {string} text
 */
export function cut(text) {
  const left = text.length - MAX_SHOWN_CHARS;
  return left > 0 ? `${text.slice(0, MAX_SHOWN_CHARS)}\n… and ${left} more characters` : text;
}

/**
 * Whether a method is one that somebody looks for.
 *
 * @param {{ readonly name: string, readonly summary?: string }} method
 * @param {string} wanted
 */
export function isFound({ name, summary = '' }, wanted) {
  const text = `${name} ${summary}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

// Runs in the browser: sends what a form of the page says and shows the answer, always as text. The token stays in the page.
// biome-ignore lint/suspicious/noRedundantUseStrict: the page loads it as a classic script, not as a module
'use strict';

/**
 * @typedef {{ readonly token: HTMLInputElement, readonly account_id: HTMLInputElement }} CommonBoxes
 * @typedef {{ readonly url: string, readonly method: string, readonly headers: Record<string, string>, readonly body?: string }} Request
 */

// The page is made by documentationPage.ts, with the elements that are taken for granted here.
const common = /** @type {HTMLFormElement} */ (document.getElementById('common'));
const commonBoxes = /** @type {CommonBoxes} */ (/** @type {unknown} */ (common.elements));
common.addEventListener('submit', (event) => event.preventDefault());

/**
 * The boxes of a form whose text becomes part of the request's path, query or headers.
 *
 * @param {HTMLFormElement} form
 * @returns {NodeListOf<HTMLInputElement>}
 */
const boxesOf = (form) => form.querySelectorAll('[data-in]');

/**
 * What is wrong with the boxes that become part of the path, of which an empty one would make another path.
 *
 * @param {HTMLFormElement} form
 * @returns {string[]}
 */
function faultsOf(form) {
  return [commonBoxes.account_id, ...boxesOf(form)]
    .filter(({ name }) => form.dataset.path?.includes(`{${name}}`))
    .filter(({ value, pattern }) => !new RegExp(pattern).test(value))
    .map(({ name, value, title }) => `${name} is ${JSON.stringify(value)}; allowed: ${title}`);
}

/**
 * @param {HTMLFormElement} form
 * @returns {Request}
 */
function requestOf(form) {
  const values = new FormData(form);
  /** @type {Record<string, string>} */
  const headers = { authorization: `Bearer ${commonBoxes.token.value}` };
  const query = new URLSearchParams();
  let path = String(form.dataset.path).replace(
    '{account_id}',
    encodeURIComponent(commonBoxes.account_id.value),
  );
  for (const box of boxesOf(form)) {
    const value = String(values.get(box.name));
    if (box.dataset.in === 'path') path = path.replace(`{${box.name}}`, encodeURIComponent(value));
    else if (value !== '' && box.dataset.in === 'query') query.set(box.name, value);
    else if (value !== '') headers[box.name.toLowerCase()] = value;
  }
  const search = String(query);
  const url = search === '' ? path : `${path}?${search}`;
  const method = String(form.dataset.method);
  const { body } = /** @type {{ body?: HTMLTextAreaElement }} */ (/** @type {unknown} */ (form.elements));
  if (body === undefined) return { url, method, headers };
  return { url, method, headers: { ...headers, 'content-type': 'application/json' }, body: body.value };
}

/** @param {string} text */
const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * The request as a command for a shell, with the token as a variable.
 *
 * @param {Request} request
 */
function curlOf({ url, method, headers, body }) {
  const shown = { ...headers, authorization: 'Bearer $API_TOKEN' };
  const parts = ['curl', '-X', method, quote(location.origin + url)];
  for (const [name, value] of Object.entries(shown))
    parts.push('-H', name === 'authorization' ? `"${name}: ${value}"` : quote(`${name}: ${value}`));
  if (body !== undefined) parts.push('--data', quote(body));
  return parts.join(' ');
}

/** @param {string} text */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const curl = /** @type {HTMLElement} */ (form.querySelector('.curl'));
  const answer = /** @type {HTMLElement} */ (form.querySelector('.answer'));
  const faults = faultsOf(form);
  if (faults.length > 0) {
    curl.hidden = true;
    answer.hidden = false;
    answer.textContent = `${faults.join('\n')}\nNothing was sent`;
    return;
  }
  const { url, ...request } = requestOf(form);
  curl.textContent = curlOf({ url, ...request });
  curl.hidden = answer.hidden = false;
  answer.textContent = '…';
  try {
    const response = await fetch(url, { ...request, credentials: 'omit' });
    const text = await response.text();
    const etag = response.headers.get('etag');
    answer.textContent = `${response.status}${etag ? `  ETag: ${etag}` : ''}\n${indented(text)}`;
  } catch (error) {
    answer.textContent = String(error);
  }
}

/** @type {NodeListOf<HTMLFormElement>} */
const forms = document.querySelectorAll('form.try');
for (const form of forms)
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });

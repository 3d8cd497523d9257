// Runs in the browser: shows the methods of the OpenRPC document and sends what a form says. Whatever comes from the server is shown as
// text. The key stays in the page.
import { bodyOf, curlOf, cut, indented, isFound, paramsOf } from './calls.js';

/**
 * @typedef {{ readonly name: string, readonly description?: string, readonly required?: boolean, readonly schema?: object }} Param
 * @typedef {{ readonly params: readonly { readonly value: unknown }[], readonly result?: { readonly value: unknown } }} Example
 * @typedef {{
 *   readonly name: string, readonly summary?: string, readonly description?: string, readonly params: readonly Param[],
 *   readonly result?: { readonly schema?: object }, readonly examples?: readonly Example[],
 * }} Method
 */

// The page is made by methodsPage.ts, with the elements that are taken for granted here.
const main = /** @type {HTMLElement} */ (document.querySelector('main'));
const state = /** @type {HTMLElement} */ (document.getElementById('state'));
const list = /** @type {HTMLElement} */ (document.getElementById('methods'));
const common = /** @type {HTMLFormElement} */ (document.getElementById('common'));
const { key, find } = /** @type {{ key: HTMLInputElement, find: HTMLInputElement }} */ (
  /** @type {unknown} */ (common.elements)
);
const url = new URL(location.pathname, location.origin).href;

/**
 * An element with text or other elements in it, never with HTML.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {...(string | Node)} content
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function element(tag, ...content) {
  const made = document.createElement(tag);
  made.append(...content);
  return made;
}

/** @returns {Record<string, string>} */
const keyHeader = () => (key.value === '' ? {} : { authorization: `Bearer ${key.value}` });

/**
 * A box for a parameter, with what its example has.
 *
 * @param {Param} param
 * @param {unknown} value
 */
function boxOf({ name, description = '', required = false }, value) {
  const box = element('textarea');
  box.name = name;
  box.spellcheck = false;
  box.required = required;
  box.value = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  box.rows = Math.min(12, box.value.split('\n').length);
  const note = element('small', required ? description : `optional. ${description}`);
  return { box, label: element('label', `${name} `, note, box) };
}

/** @param {Method} method */
function formOf({ name, params, examples }) {
  const values = examples?.[0]?.params ?? [];
  const boxes = params.map((param, i) => boxOf(param, values[i]?.value));
  const curl = element('pre');
  const answer = element('pre');
  curl.hidden = answer.hidden = true;
  answer.setAttribute('role', 'status');
  // Long lines are scrolled, by keyboard, too.
  curl.tabIndex = answer.tabIndex = 0;
  const form = element('form', ...boxes.map(({ label }) => label), element('button', 'Send'), curl, answer);
  form.noValidate = true;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const read = paramsOf(
      boxes.map(({ box }) => ({ name: box.name, text: box.value, required: box.required })),
    );
    answer.hidden = false;
    if ('faults' in read) {
      curl.hidden = true;
      answer.textContent = `${read.faults.join('\n')}\nNothing was sent`;
      return;
    }
    const body = bodyOf(name, read.params);
    curl.hidden = false;
    curl.textContent = curlOf({ url, body, hasKey: key.value !== '' });
    void send(body, answer);
  });
  return form;
}

/**
 * @param {string} body
 * @param {HTMLElement} answer
 */
async function send(body, answer) {
  answer.textContent = '…';
  try {
    const headers = { 'content-type': 'application/json', ...keyHeader() };
    const response = await fetch(url, { method: 'POST', headers, body, credentials: 'omit' });
    const from = response.headers.get('x-floodgate-cache') ?? response.headers.get('x-floodgate-upstream');
    answer.textContent = `${response.status}${from ? `  ${from}` : ''}\n${cut(indented(await response.text()))}`;
  } catch (error) {
    answer.textContent = String(error);
  }
}

/** @param {Method} method */
function sectionOf(method) {
  const { name, summary = '', description, params, result, examples } = method;
  const section = element(
    'details',
    element('summary', element('code', name), ` ${summary}`),
    ...(description ? [element('p', description)] : []),
  );
  section.id = name;
  // What is never opened costs nothing.
  section.addEventListener(
    'toggle',
    () => {
      const schemas = Object.fromEntries(params.map((param) => [param.name, param.schema]));
      const [example] = examples ?? [];
      section.append(
        formOf(method),
        folded('Schemas of the parameters', schemas),
        folded('Schema of the result', result?.schema),
        ...(example?.result ? [folded('Result of the example', example.result.value)] : []),
      );
    },
    { once: true },
  );
  return { method, section };
}

/**
 * @param {string} title
 * @param {unknown} value
 */
function folded(title, value) {
  const shown = element('pre', cut(JSON.stringify(value, null, 2) ?? ''));
  shown.tabIndex = 0;
  return element('details', element('summary', title), shown);
}

/** @type {ReturnType<typeof sectionOf>[]} */
let sections = [];

async function read() {
  state.textContent = 'reading the methods…';
  try {
    const response = await fetch(`${main.dataset.here}openrpc.json`, {
      headers: keyHeader(),
      credentials: 'omit',
    });
    const text = await response.text();
    if (!response.ok) {
      state.textContent = `${response.status}: ${cut(text)}`;
      if (response.status === 401) key.focus();
      return;
    }
    sections = /** @type {readonly Method[]} */ (JSON.parse(text).methods).map(sectionOf);
    list.replaceChildren(...sections.map(({ section }) => section));
    show();
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (named instanceof HTMLDetailsElement) named.open = true;
  } catch (error) {
    state.textContent = String(error);
  }
}

/** Those that are looked for. */
function show() {
  for (const { method, section } of sections) section.hidden = !isFound(method, find.value);
  const count = sections.filter(({ section }) => !section.hidden).length;
  state.textContent = `${count} of ${sections.length} methods`;
}

find.addEventListener('input', show);
common.addEventListener('submit', (event) => {
  event.preventDefault();
  void read();
});
void read();

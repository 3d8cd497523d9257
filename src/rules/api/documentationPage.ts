import { accountIdPattern, allowedAccountId, allowedRuleId, exampleRule, ruleIdPattern } from '../index.ts';
import type { openApiDocument } from './openApi.ts';

type Document = ReturnType<typeof openApiDocument>;

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly { name: string; in: string; description: string; schema: object }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { description: string }>>;
}

/** The page that shows the document, each operation with a form to try it. Needs nothing from elsewhere. */
export function documentationPage(document: Document, base: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    // Made by openApiDocument, whose operations have these members.
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) =>
      section(base, path, method, operation),
    ),
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title>
<link rel="stylesheet" href="${escapeHtml(base)}/docs/page.css">
<script src="${escapeHtml(base)}/docs/page.js" defer></script>
<main>
<h1>${escapeHtml(document.info.title)}</h1>
<p>${escapeHtml(document.info.description)} The whole as <a href="${escapeHtml(base)}/openapi.json">OpenAPI document</a>.</p>
<form id="common">
<label>API token <input name="token" type="password" autocomplete="off"></label>
<label>Account id <input name="account_id" value="demo" ${checksOf('account_id')}></label>
</form>
${operations.join('\n')}
<h2>Fields of a rule</h2>
${fieldTable(document.components.schemas.NewRule.properties)}
</main>
</html>
`;
}

function section(base: string, path: string, method: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.name !== 'account_id');
  const inputs = parameters.map(
    ({ name, in: place, description }) =>
      `<label>${escapeHtml(name)} <small>${escapeHtml(`${place}. ${description}`)}</small> <input name="${escapeHtml(name)}" data-in="${escapeHtml(place)}" ${checksOf(name)}></label>`,
  );
  const example = JSON.stringify(method === 'patch' ? { mode: 'enabled' } : exampleRule, null, 2);
  const body = operation.requestBody
    ? `<label>Body <textarea name="body" rows="8" spellcheck="false">${escapeHtml(example)}</textarea></label>`
    : '';
  const responses = Object.entries(operation.responses).map(
    ([status, { description }]) =>
      `<tr><td>${escapeHtml(status)}</td><td>${escapeHtml(description)}</td></tr>`,
  );
  return `<details>
<summary><b class="${escapeHtml(method)}">${escapeHtml(method.toUpperCase())}</b> <code>${escapeHtml(base + path)}</code> ${escapeHtml(operation.summary)}</summary>
<p>${escapeHtml(operation.description).replaceAll('`', '')}</p>
<form class="try" data-method="${escapeHtml(method.toUpperCase())}" data-path="${escapeHtml(base + path)}">
${inputs.join('\n')}
${body}
<button>Send</button>
<pre class="curl" hidden></pre>
<pre class="answer" hidden></pre>
</form>
<table>${responses.join('')}</table>
</details>`;
}

/** What may stand in the boxes whose text becomes part of a path. */
const pathChecks: Readonly<Record<string, { readonly pattern: string; readonly allowed: string }>> = {
  account_id: { pattern: accountIdPattern, allowed: allowedAccountId },
  rule_id: { pattern: ruleIdPattern, allowed: allowedRuleId },
};

/** The attributes by which browsers, and the script for certain, refuse a text that would make another path. */
function checksOf(name: string): string {
  const check = pathChecks[name];
  if (!check) return '';
  // Browsers read patterns with the flag v, under which a dash in a class is escaped.
  const pattern = check.pattern.replaceAll('_-]', '_\\-]');
  return `required pattern="${escapeHtml(pattern)}" title="${escapeHtml(check.allowed)}"`;
}

/** The keywords of a field's schema that the page shows. */
interface SchemaNotes {
  readonly description?: string;
  readonly enum?: readonly string[];
}

function fieldTable(properties: Readonly<Record<string, SchemaNotes>>): string {
  const rows = Object.entries(properties).map(
    ([name, { description = '', enum: values = [] }]) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(values.join(', '))}</td><td>${escapeHtml(description)}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Runs in the browser: sends what a form says and shows the answer, always as text. The token stays in the page. */
export const pageScript = `'use strict';
const common = document.getElementById('common');
common.addEventListener('submit', (event) => event.preventDefault());

/** What is wrong with the boxes that become part of the path, of which an empty one would make another path. */
function faultsOf(form) {
  return [common.elements.account_id, ...form.querySelectorAll('[data-in]')]
    .filter(({ name }) => form.dataset.path.includes('{' + name + '}'))
    .filter(({ value, pattern }) => !new RegExp(pattern).test(value))
    .map(({ name, value, title }) => name + ' is ' + JSON.stringify(value) + '; allowed: ' + title);
}

function requestOf(form) {
  const values = new FormData(form);
  const headers = { authorization: 'Bearer ' + common.elements.token.value };
  const query = new URLSearchParams();
  let path = form.dataset.path.replace('{account_id}', encodeURIComponent(common.elements.account_id.value));
  for (const input of form.querySelectorAll('[data-in]')) {
    const value = String(values.get(input.name));
    if (input.dataset.in === 'path') path = path.replace('{' + input.name + '}', encodeURIComponent(value));
    else if (value !== '' && input.dataset.in === 'query') query.set(input.name, value);
    else if (value !== '') headers[input.name.toLowerCase()] = value;
  }
  const body = form.elements.body ? form.elements.body.value : undefined;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const search = String(query);
  const url = search === '' ? path : path + '?' + search;
  return { url, method: form.dataset.method, headers, body };
}

const quote = (text) => "'" + text.replaceAll("'", "'\\\\''") + "'";

function curlOf({ url, method, headers, body }) {
  const shown = { ...headers, authorization: 'Bearer $API_TOKEN' };
  const parts = ['curl', '-X', method, quote(location.origin + url)];
  for (const [name, value] of Object.entries(shown))
    parts.push('-H', name === 'authorization' ? '"' + name + ': ' + value + '"' : quote(name + ': ' + value));
  if (body !== undefined) parts.push('--data', quote(body));
  return parts.join(' ');
}

async function send(form) {
  const curl = form.querySelector('.curl');
  const answer = form.querySelector('.answer');
  const faults = faultsOf(form);
  if (faults.length > 0) {
    curl.hidden = true;
    answer.hidden = false;
    answer.textContent = faults.join('\\n') + '\\nNothing was sent';
    return;
  }
  const request = requestOf(form);
  curl.textContent = curlOf(request);
  curl.hidden = answer.hidden = false;
  answer.textContent = '…';
  try {
    const response = await fetch(request.url, { ...request, credentials: 'omit' });
    const text = await response.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch {}
    const etag = response.headers.get('etag');
    answer.textContent = response.status + (etag ? '  ETag: ' + etag : '') + '\\n' + shown;
  } catch (error) {
    answer.textContent = String(error);
  }
}

for (const form of document.querySelectorAll('form.try'))
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send(form);
  });
`;

export const pageStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
details { border-top: 1px solid #8886; padding: .5rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4.5rem; }
b.get { color: #2a7; } b.post { color: #27c; } b.patch { color: #b70; } b.delete { color: #c33; }
label { display: block; margin: .5rem 0; }
input, textarea { display: block; width: 100%; box-sizing: border-box; padding: .4rem; font: inherit; }
textarea, pre, code { font-family: ui-monospace, monospace; font-size: .875rem; }
pre { overflow: auto; padding: .75rem; background: #8882; }
table { border-collapse: collapse; } td { padding: .2rem .75rem .2rem 0; vertical-align: top; }
button { padding: .4rem 1.2rem; font: inherit; }
`;

import { escapeHtml } from '../../platform/page/index.ts';
import { accountIdPattern, allowedAccountId, allowedRuleId, ruleIdPattern } from '../index.ts';
import type { openApiDocument } from './openApi.ts';

type Document = ReturnType<typeof openApiDocument>;

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly { name: string; in: string; description: string; schema: object }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { description: string }>>;
}

/** The page that shows the document, each operation with a form to try it. Needs nothing from elsewhere. */
export function documentationPage(document: Document, base: string): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    // Made by openApiDocument, whose operations have these members.
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) =>
      section(base + path, method, operation),
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
${fieldTable(document.components.schemas.RuleCreation.properties)}
</main>
</html>
`;
}

function section(path: string, method: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.name !== 'account_id');
  const inputs = parameters.map(
    ({ name, in: place, description }) =>
      `<label>${escapeHtml(name)} <small>${escapeHtml(`${place}. ${description}`)}</small> <input name="${escapeHtml(name)}" data-in="${escapeHtml(place)}" ${place === 'path' ? checksOf(name) : ''}></label>`,
  );
  const body = operation.requestBody
    ? `<label>Body <textarea name="body" rows="8" spellcheck="false">${escapeHtml(JSON.stringify(operation.requestBody.content['application/json']?.example, null, 2))}</textarea></label>`
    : '';
  const responses = Object.entries(operation.responses).map(
    ([status, { description }]) =>
      `<tr><td>${escapeHtml(status)}</td><td>${escapeHtml(description)}</td></tr>`,
  );
  return `<details>
<summary><b class="${escapeHtml(method)}">${escapeHtml(method.toUpperCase())}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary)}</summary>
<p>${escapeHtml(operation.description).replaceAll('`', '')}</p>
<form class="try" data-method="${escapeHtml(method.toUpperCase())}" data-path="${escapeHtml(path)}">
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
  entry_id: { pattern: ruleIdPattern, allowed: allowedRuleId },
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

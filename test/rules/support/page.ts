import type { RulesServer } from './server.ts';

/** A form of the try-it page, as the server sent it. */
export interface Form {
  readonly method: string;
  /** With its placeholders: `/client/v4/accounts/{account_id}/…`. */
  readonly path: string;
  readonly inputs: readonly Readonly<Record<string, string>>[];
}

export interface Page {
  readonly forms: readonly Form[];
  /** Fills the boxes of a form and sends it: what left the page (`METHOD URL`), and what the page then shows. */
  submit(form: Form, fields: Readonly<Record<string, string>>): Promise<{ sent: string[]; answer: string }>;
}

/**
 * The page that a server serves, with its own script, on the least of a document that the script needs: no browser is
 * at hand. What browsers check themselves before a submit (`required`, `pattern`) is left out, so the script is alone.
 */
export async function openPage(server: Pick<RulesServer, 'baseUrl'>): Promise<Page> {
  const [html, script] = await Promise.all(
    ['/docs', '/docs/page.js'].map(async (path) => (await fetch(server.baseUrl + path)).text()),
  );
  const forms = formsOf(String(html));
  const common = inputsOf(/<form id="common">.*?<\/form>/s.exec(String(html))?.[0] ?? '');
  return {
    forms,
    submit: (form, fields) => submit({ script: String(script), server, common }, form, fields),
  };
}

function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form class="try" data-method="(\w+)" data-path="([^"]+)">(.*?)<\/form>/gs)].map(
    ([, method, path, inner]) => ({
      method: String(method),
      path: String(path),
      inputs: inputsOf(String(inner)),
    }),
  );
}

/** The attributes of each input, as the page has them. */
function inputsOf(html: string): Record<string, string>[] {
  return [...html.matchAll(/<input ([^>]+)>/g)].map(([, attributes]) =>
    Object.fromEntries(
      [...String(attributes).matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, name, value]) => [
        name,
        unescaped(value ?? ''),
      ]),
    ),
  );
}

const unescaped = (text: string): string =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** What the forms of a page have in common. */
interface Served {
  readonly script: string;
  readonly server: Pick<RulesServer, 'baseUrl'>;
  readonly common: Form['inputs'];
}

async function submit(
  { script, server, common }: Served,
  form: Form,
  fields: Readonly<Record<string, string>>,
): Promise<{ sent: string[]; answer: string }> {
  const elementOf = (attributes: Readonly<Record<string, string>>) => ({
    name: attributes['name'],
    value: fields[String(attributes['name'])] ?? attributes['value'] ?? '',
    pattern: attributes['pattern'] ?? '',
    title: attributes['title'] ?? '',
    dataset: { in: attributes['data-in'] },
  });
  const elements = form.inputs.map(elementOf);
  const shown = { curl: { textContent: '', hidden: true }, answer: { textContent: '', hidden: true } };
  let onSubmit: (event: { preventDefault(): void }) => unknown = () => undefined;
  const formElement = {
    dataset: { method: form.method, path: form.path },
    elements: {},
    querySelectorAll: (selector: string) =>
      elements.filter(({ dataset }) => selector === '[data-in]' && dataset.in !== undefined),
    querySelector: (selector: string) => (selector === '.curl' ? shown.curl : shown.answer),
    addEventListener: (_: string, listener: typeof onSubmit) => {
      onSubmit = listener;
    },
  };
  const document = {
    getElementById: () => ({
      addEventListener: () => undefined,
      elements: Object.fromEntries(common.map((input) => [input['name'], elementOf(input)])),
    }),
    querySelectorAll: () => [formElement],
  };
  class FormData {
    get(name: string): string | null {
      return elements.find((element) => element.name === name)?.value ?? null;
    }
  }
  const sent: string[] = [];
  const running: Promise<unknown>[] = [];
  const fetchHere = (url: string, init: RequestInit) => {
    sent.push(`${init.method} ${url}`);
    const { method, headers, body } = init;
    const answer = fetch(new URL(url, server.baseUrl), {
      ...(method !== undefined && { method }),
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { body }),
    });
    running.push(answer);
    return answer;
  };
  new Function('document', 'FormData', 'location', 'fetch', script)(
    document,
    FormData,
    new URL(server.baseUrl),
    fetchHere,
  );
  onSubmit({ preventDefault: () => undefined });
  await Promise.all(running);
  // The script reads the answer's text before it shows it, in further turns of the event loop.
  while (shown.answer.textContent === '…') await new Promise(setImmediate);
  return { sent, answer: shown.answer.textContent };
}

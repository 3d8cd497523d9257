import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Record<string, object> }>>>>;
}

interface StatusAndBody {
  readonly status: number;
  readonly json: unknown;
}

/** Checks responses of a server against its own OpenAPI document. */
export class Conformance {
  readonly #document: OpenApiDocument;
  readonly #ajv: Ajv2020;

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#ajv = new Ajv2020({ strict: false, allErrors: true });
    // Depending on the loader, the default export of this CommonJS module is wrapped or not.
    (addFormats as unknown as { default?: typeof addFormats.default }).default?.(this.#ajv);
    this.#ajv.addSchema({ ...document, $id: 'document' });
  }

  /** Returns all violations of a response. `path` is relative to the base URL. */
  faultsOf(method: string, path: string, { status, json }: StatusAndBody): string[] {
    const template = this.#templateOf(path);
    // Paths and methods that are not documented return only errors.
    if (template === undefined || status === 405) return this.#check(ERROR_ANSWER, json);
    const operation = this.#document.paths[template]?.[method.toLowerCase()];
    if (!operation) return [`${method} ${template} returned ${status} and is not documented`];
    if (!operation.responses[status]) return [`${method} ${template}: ${status} is not documented`];
    if (status === 304) return json === undefined ? [] : ['a 304 has a body'];
    const pointer = [
      'paths',
      template,
      method.toLowerCase(),
      'responses',
      String(status),
      'content',
      'application/json',
      'schema',
    ];
    return this.#check(`document#/${pointer.map(escapePointer).join('/')}`, json);
  }

  #templateOf(path: string): string | undefined {
    const bare = path.split('?', 1)[0]?.replace(/\/$/, '') ?? '';
    return Object.keys(this.#document.paths).find((template) =>
      new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(bare),
    );
  }

  #check(schema: string, body: unknown): string[] {
    const validate: ValidateFunction | undefined = this.#ajv.getSchema(schema);
    if (!validate) return [`the document has no schema at ${schema}`];
    if (validate(body)) return [];
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  }
}

const ERROR_ANSWER = 'document#/components/schemas/ErrorAnswer';

function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Operations of an API, derived from its description: OpenAPI for REST, OpenRPC for JSON-RPC. */

export type Form = 'choice' | 'flag' | 'number' | 'text' | 'list' | 'json';

export interface Field {
  /** Name of the parameter or member of the body; empty if the field is the whole body as JSON. */
  readonly name: string;
  readonly location: 'path' | 'query' | 'header' | 'body' | 'param';
  readonly description: string;
  readonly isRequired: boolean;
  readonly form: Form;
  readonly choices: readonly string[];
  readonly initialText: string;
  /** Values that are allowed for a field in the path. Other values could address another resource. */
  readonly allowed?: { readonly pattern: RegExp; readonly words: string };
}

export interface Operation {
  readonly kind: 'rest' | 'rpc';
  /** Name of the operation, unique within its kind: `createRule`, `eth_call`. */
  readonly id: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string;
  /** HTTP method; undefined for JSON-RPC. `path` is the path below the base URL. */
  readonly method?: string;
  readonly path?: string;
  readonly fields: readonly Field[];
  /** Responses or schemas by title, which are shown as JSON when the user opens them. */
  readonly details: Readonly<Record<string, unknown>>;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

/** A parameter, or a member of a body. */
interface Described {
  readonly name: string;
  readonly required?: boolean | undefined;
  readonly description?: string | undefined;
  readonly schema: Schema;
}

interface Parameter extends Described {
  readonly in: 'path' | 'query' | 'header';
  readonly example?: unknown;
}

interface RestOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
  readonly responses?: Readonly<Record<string, { readonly description: string }>>;
}

interface Info {
  readonly title: string;
  readonly description: string;
}

export interface OpenApi {
  readonly info: Info;
  readonly paths: Readonly<Record<string, Readonly<Record<string, RestOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface OpenRpc {
  readonly info: Info;
  readonly methods: readonly {
    readonly name: string;
    readonly summary: string;
    readonly description?: string;
    readonly params: readonly Described[];
    readonly result?: { readonly schema: Schema };
    readonly examples?: readonly {
      readonly params: readonly { readonly value: unknown }[];
      readonly result?: { readonly value: unknown };
    }[];
  }[];
}

/** Returns the operations of the rules API. `account` is the initial text of the field `account_id`. */
export function restOperations({ paths, components }: Omit<OpenApi, 'info'>, account: string): Operation[] {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId: id, summary, description = '', tags = [], parameters = [] } = operation;
      const content = operation.requestBody?.content['application/json'];
      const responses = Object.entries(operation.responses ?? {});
      return {
        kind: 'rest',
        id,
        group: tags[0] ?? 'rest',
        summary,
        path,
        description: description.replaceAll('`', ''),
        method: method.toUpperCase(),
        fields: [
          ...parameters.map((parameter) => parameterField(parameter, account)),
          ...(content === undefined ? [] : bodyFields(resolve(content.schema), content.example)),
        ],
        details: { Responses: Object.fromEntries(responses.map(([status, of]) => [status, of.description])) },
      };
    }),
  );
}

export function rpcOperations({ methods }: Omit<OpenRpc, 'info'>): Operation[] {
  return methods.map(({ name: id, summary, description = '', params, result, examples = [] }) => {
    const [example] = examples;
    return {
      kind: 'rpc',
      id,
      group: id.split('_', 1)[0] ?? 'rpc',
      summary,
      description,
      fields: params.map((param, i) => fieldOf('param', param, example?.params[i]?.value)),
      details: {
        'Schemas of the parameters': Object.fromEntries(params.map(({ name, schema }) => [name, schema])),
        'Schema of the result': result?.schema,
        'Result of the example': example?.result?.value,
      },
    };
  });
}

/** Returns the field of a form. The form does not render the backquotes (Markdown) of a description. */
function fieldOf(
  location: Field['location'],
  { name, description = '', required = false, schema }: Described,
  initial: unknown,
): Field {
  const form = formOf(schema);
  return {
    name,
    location,
    isRequired: required,
    form,
    choices: choicesOf(schema),
    description: description.replaceAll('`', ''),
    initialText: textOf(initial, form),
  };
}

function parameterField(parameter: Parameter, account: string): Field {
  const { name, in: location, required, example, schema } = parameter;
  const isInPath = location === 'path';
  const initial = isInPath || !required ? undefined : example;
  const field = fieldOf(location, parameter, name === 'account_id' ? account : initial);
  if (!isInPath) return field;
  const words = `a ${schema.format === 'uuid' ? 'UUID' : 'text'} such as ${example}`;
  return { ...field, allowed: { pattern: patternOf(schema), words } };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Value of a path segment. `.` and `..` are excluded, because browsers remove them, even if percent-encoded. */
const SEGMENT = /^(?!\.{1,2}$)./s;

function patternOf({ pattern, format }: Schema): RegExp {
  if (format === 'uuid') return UUID;
  return pattern === undefined ? SEGMENT : new RegExp(pattern);
}

const WHOLE_BODY: Described = { name: '', description: 'The body, as JSON', required: true, schema: {} };

/** Returns a field for each property of the body's schema, or one for the whole body if the schema lists none. */
function bodyFields(schema: Schema, example: unknown): Field[] {
  if (schema.properties === undefined) return [fieldOf('body', WHOLE_BODY, example ?? {})];
  const examples = (typeof example === 'object' && example !== null ? example : {}) as Readonly<
    Record<string, unknown>
  >;
  return Object.entries(schema.properties).map(([name, member]) => {
    const { description } = member;
    const required = schema.required?.includes(name);
    return fieldOf('body', { name, description, required, schema: member }, examples[name]);
  });
}

function formOf(schema: Schema): Form {
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.enum !== undefined) return 'choice';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array') return schema.items?.type === 'string' ? 'list' : 'json';
  return type === 'string' ? 'text' : 'json';
}

const choicesOf = ({ enum: values = [] }: Schema): readonly string[] => values.map(String);

/** Returns the text that a form field shows for a value. The text for undefined is empty. */
function textOf(value: unknown, form: Form): string {
  if (value === undefined) return '';
  if (form === 'list' && Array.isArray(value)) return value.join(', ');
  if (typeof value === 'string' && form !== 'json') return value;
  return JSON.stringify(value, null, typeof value === 'object' ? 2 : 0);
}

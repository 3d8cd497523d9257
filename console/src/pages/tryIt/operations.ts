/** Operations as the server's own documents tell them: OpenAPI and OpenRPC. */

export type Form = 'choice' | 'flag' | 'number' | 'text' | 'list' | 'json';

export interface Field {
  readonly name: string;
  readonly place: 'path' | 'query' | 'header' | 'body' | 'param';
  readonly description: string;
  readonly isRequired: boolean;
  readonly form: Form;
  readonly choices: readonly string[];
  /** What the form begins with. */
  readonly first: string;
}

export interface Operation {
  readonly kind: 'rest' | 'rpc';
  /** Its name: `createRule`, `eth_call`. */
  readonly id: string;
  readonly group: string;
  readonly summary: string;
  readonly description: string;
  /** Of HTTP, and its path below the base; of REST alone. */
  readonly method?: string;
  readonly path?: string;
  /** The body is the one field of place `body`, and not an object of such fields. */
  readonly isWholeBody: boolean;
  readonly fields: readonly Field[];
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly schema: Schema;
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
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RestOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface OpenRpc {
  readonly methods: readonly {
    readonly name: string;
    readonly summary: string;
    readonly description?: string;
    readonly params: readonly {
      readonly name: string;
      readonly description?: string;
      readonly required?: boolean;
      readonly schema: Schema;
    }[];
    readonly examples?: readonly { readonly params: readonly { readonly value: unknown }[] }[];
  }[];
}

export function restOperations({ paths, components }: OpenApi, account: string): Operation[] {
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const {
        operationId: id,
        summary,
        description = '',
        tags = [],
        parameters = [],
        requestBody,
      } = operation;
      const content = requestBody?.content['application/json'];
      const body = content && bodyFields(resolve(content.schema), content.example);
      return {
        kind: 'rest',
        id,
        group: tags[0] ?? 'rest',
        summary,
        description,
        path,
        method: method.toUpperCase(),
        isWholeBody: body?.length === 1 && body[0]?.name === '',
        fields: [...parameters.map((parameter) => parameterField(parameter, account)), ...(body ?? [])],
      };
    }),
  );
}

export function rpcOperations({ methods }: OpenRpc): Operation[] {
  return methods.map(({ name: id, summary, description = '', params, examples }) => ({
    kind: 'rpc',
    id,
    group: id.split('_', 1)[0] ?? 'rpc',
    summary,
    description,
    isWholeBody: false,
    fields: params.map(({ name, description: words = '', required = false, schema }, i) => {
      const example = examples?.[0]?.params[i]?.value;
      const form = formOf(schema);
      return {
        name,
        place: 'param',
        description: words,
        isRequired: required,
        choices: choicesOf(schema),
        form: form === 'text' && typeof example === 'object' ? 'json' : form,
        first: example === undefined ? '' : textOf(example, form),
      };
    }),
  }));
}

function parameterField(
  { name, in: place, required = false, description = '', example, schema }: Parameter,
  account: string,
): Field {
  const first = name === 'account_id' ? account : required && place !== 'path' ? String(example ?? '') : '';
  return {
    ...{ name, place, description, isRequired: required },
    form: formOf(schema),
    choices: choicesOf(schema),
    first,
  };
}

/** A field for each member of a flat object; the text of the whole where it is none. */
function bodyFields(schema: Schema, example: unknown): Field[] {
  if (schema.properties === undefined)
    return [
      {
        name: '',
        place: 'body',
        description: 'The body, as JSON',
        isRequired: true,
        form: 'json',
        choices: [],
        first: example === undefined ? '{}' : JSON.stringify(example, null, 2),
      },
    ];
  const examples = (typeof example === 'object' && example !== null ? example : {}) as Readonly<
    Record<string, unknown>
  >;
  return Object.entries(schema.properties).map(([name, member]) => {
    const form = formOf(member);
    const value = examples[name];
    return {
      name,
      place: 'body',
      description: member.description ?? '',
      isRequired: schema.required?.includes(name) ?? false,
      form,
      choices: choicesOf(member),
      first: value === undefined ? '' : textOf(value, form),
    };
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

const textOf = (value: unknown, form: Form): string => {
  if (form === 'list' && Array.isArray(value)) return value.join(', ');
  if (typeof value === 'string' && form !== 'json') return value;
  return JSON.stringify(value, null, typeof value === 'object' ? 2 : 0);
};

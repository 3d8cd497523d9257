import { RPC_ERRORS, type RpcErrorName } from '../../../jsonrpc/index.ts';
import { type CallLimits, DEFAULT_LIMITS } from '../../callLimits.ts';
import type { JsonSchema } from '../paramType.ts';
import { limitsText, type MethodRow, type Param } from '../row.ts';
import examples from './examples.json' with { type: 'json' };
import { resultSchema } from './resultSchema.ts';
import { traceSchema } from './traceSchema.ts';

const OPENRPC_VERSION = '1.3.2';

const ERRORS = [
  'invalidParams',
  'internalError',
  'noNode',
  'limitExceeded',
] as const satisfies RpcErrorName[];

/** Example of a call: its parameters, and the result that a node on a development chain returned. */
interface Example {
  readonly params: readonly unknown[];
  readonly result: unknown;
}

/** Examples by method name. test/gateway/openRpc.test.ts runs them. */
const EXAMPLES: Readonly<Record<string, Example>> = examples;

interface ContentDescriptor {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** Returns the OpenRPC document of the methods of a network. It is the result of `rpc.discover`. */
export function openRpcDocument(
  network: string,
  rows: readonly MethodRow[],
  limits: CallLimits = DEFAULT_LIMITS,
): object {
  return {
    openrpc: OPENRPC_VERSION,
    info: {
      title: `Floodgate gateway, network ${network}`,
      description:
        'JSON-RPC 2.0 over HTTP POST. Methods that are not listed are rejected with HTTP status 403 and error -32601.',
      // Version of the API, as in the URL path /v1/. It is not the version of Floodgate.
      version: '1',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    methods: rows.map((row) => methodObject(row, limits)),
    components: {
      schemas: { Trace: traceSchema },
      errors: Object.fromEntries(
        ERRORS.map((name) => [name, { code: RPC_ERRORS[name].code, message: RPC_ERRORS[name].meaning }]),
      ),
    },
  };
}

function methodObject(row: MethodRow, values: CallLimits): object {
  const { name, summary, params } = row;
  const limits = limitsText(row, values);
  const example = EXAMPLES[name];
  return {
    name,
    summary,
    ...(limits !== undefined && { description: `Limits: ${limits}.` }),
    paramStructure: 'by-position',
    params: params.map(paramObject),
    result: { name: 'result', schema: resultSchema(row) },
    errors: ERRORS.map((error) => ({ $ref: `#/components/errors/${error}` })),
    ...(example && {
      examples: [
        {
          name: 'example',
          params: example.params.map((value, i) => ({ name: params[i]?.name ?? 'param', value })),
          result: { name: 'result', value: example.result },
        },
      ],
    }),
  };
}

const paramObject = ({ name, kind, optional }: Param): ContentDescriptor => ({
  name,
  description: kind.allowed,
  required: optional !== true,
  schema: kind.schema ?? {},
});

import { RPC_ERRORS, type RpcErrorName } from '../../jsonrpc/index.ts';
import type { JsonSchema } from '../methods/kind.ts';
import type { MethodRow, Param } from '../methods/row.ts';
import { EXAMPLES } from './examples.ts';
import { resultSchema } from './resultSchema.ts';
import { traceSchema } from './traceSchema.ts';

/** The specification that the document follows. */
const OPENRPC_VERSION = '1.3.2';

/** Errors that any method may answer with. */
const ERRORS = [
  'invalidParams',
  'internalError',
  'noNode',
  'limitExceeded',
] as const satisfies RpcErrorName[];

interface ContentDescriptor {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

/** The OpenRPC document of the methods that a network serves: what `rpc.discover` answers. */
export function openRpcDocument(network: string, rows: readonly MethodRow[]): object {
  return {
    openrpc: OPENRPC_VERSION,
    info: {
      title: `Floodgate gateway, network ${network}`,
      description:
        'JSON-RPC 2.0 over HTTP POST. A method that is not listed here is refused with HTTP status 403 and -32601.',
      // Of the interface, not of the program: it stands in the path.
      version: '1',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    methods: rows.map(methodObject),
    components: {
      schemas: { Trace: traceSchema },
      errors: Object.fromEntries(
        ERRORS.map((name) => [name, { code: RPC_ERRORS[name].code, message: RPC_ERRORS[name].meaning }]),
      ),
    },
  };
}

function methodObject(row: MethodRow): object {
  const { name, summary, limits, params } = row;
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

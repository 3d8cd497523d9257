import { isObject, objectOf, type ParamType, paramType, rejectParam } from './paramType.ts';
import { boolean, overrides } from './paramTypes.ts';

/** Native tracers of geth, with the members of `tracerConfig` that each one documents. */
const CONFIG_MEMBERS = {
  callTracer: ['onlyTopCall', 'withLog'],
  flatCallTracer: ['convertParityErrors', 'includePrecompiles'],
  prestateTracer: ['diffMode', 'disableCode', 'disableStorage', 'includeEmpty'],
  '4byteTracer': [],
} as const;

export type TracerName = keyof typeof CONFIG_MEMBERS;
export const TRACERS = Object.keys(CONFIG_MEMBERS) as readonly TracerName[]; // the keys of the object above

/** Canonical options of a trace. Members that are false or absent are left out, as false is their default. */
export interface TracerOptions {
  readonly tracer: TracerName;
  readonly tracerConfig: Readonly<Record<string, true>>;
  /** Time in milliseconds after which the client wants the node to stop the trace of a transaction. */
  readonly timeoutMs?: number;
  readonly stateOverrides?: object;
  readonly blockOverrides?: object;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const GO_DURATION = /^(?:(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(?:ns|us|µs|μs|ms|s|m|h)){1,8}$/;
const GO_DURATION_PART = /([\d.]+)([a-zµμ]+)/g;

/** Duration in the format of Go. Its canonical form is a number of milliseconds. */
const duration = paramType('a duration of Go above 0, such as "5s", "300ms" or "1m30s"', (value) => {
  if (typeof value !== 'string' || !GO_DURATION.test(value)) return undefined;
  let milliseconds = 0;
  for (const [, count, unit = ''] of value.matchAll(GO_DURATION_PART))
    milliseconds += Number(count) * (UNIT_MS[unit] ?? 0);
  return milliseconds > 0 ? Math.ceil(milliseconds) : undefined;
});

/** Value of an option that is accepted for the sake of clients that always send it, and that is not relayed. */
const notRelayed = paramType('null, true, false or a number', (value) =>
  ['boolean', 'number'].includes(typeof value) ? value : undefined,
);
/** Options of the step logger, which native tracers ignore, and of older nodes. */
const NOT_RELAYED: Readonly<Record<string, ParamType>> = Object.fromEntries(
  [
    'reexec',
    'disableMemory',
    'disableStack',
    'disableStorage',
    'disableReturnData',
    'enableMemory',
    'enableReturnData',
    'debug',
    'limit',
  ].map((name) => [name, notRelayed]),
);

/** Returns the type of a tracer's `tracerConfig`. Subsquid sends `timeout` in it, and `onlyTopCall` with any tracer. */
function configOf(tracer: TracerName): ParamType {
  const members = Object.fromEntries(CONFIG_MEMBERS[tracer].map((name) => [name, boolean]));
  const extra = tracer === 'prestateTracer' ? { onlyTopCall: boolean } : {};
  return objectOf('an object', { ...members, ...extra, timeout: duration });
}

const CONFIGS = Object.fromEntries(TRACERS.map((tracer) => [tracer, configOf(tracer)]));
const anyObject = paramType('an object', (value) => (isObject(value) ? value : undefined));

/** State and block overrides, which only `debug_traceCall` has. */
const OVERRIDES = { stateOverrides: overrides, blockOverrides: overrides };

interface Options {
  readonly tracer?: TracerName;
  readonly timeout?: number;
  readonly tracerConfig?: object;
  readonly stateOverrides?: object;
  readonly blockOverrides?: object;
}

/** Returns the type of the options of a trace, for the tracers that the operator allows. */
export function tracerOptions(tracers: readonly TracerName[], isCall: boolean): ParamType {
  const tracer = paramType(
    `one of ${tracers.join(', ')} (gateway.debugTracers)`,
    (value) => tracers.find((name) => name === value),
    { enum: tracers },
  );
  const members = { tracer, tracerConfig: anyObject, timeout: duration, ...(isCall ? OVERRIDES : {}) };
  const allowed = `an object with tracer: ${tracer.allowed}`;
  const object = objectOf(allowed, { ...members, ...NOT_RELAYED });
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, { schema, allowed: description }]) => [
      name,
      { ...schema, description },
    ]),
  );
  return {
    allowed,
    schema: { type: 'object', properties, required: ['tracer'] },
    read(value, path) {
      const read = object.read(value, path) as Options; // `object` returns these members
      if (read.tracer === undefined) return rejectParam(`${path}.tracer`, tracer.allowed, undefined);
      const given = CONFIGS[read.tracer]?.read(read.tracerConfig ?? {}, `${path}.tracerConfig`);
      const { timeout: inConfig, ...config } = given as Readonly<Record<string, unknown>>; // an object
      return canonical(read.tracer, read, { config, inConfig: inConfig as number | undefined }); // read as a duration
    },
  };
}

function canonical(
  tracer: TracerName,
  { timeout, stateOverrides, blockOverrides }: Options,
  { config, inConfig }: { readonly config: object; readonly inConfig: number | undefined },
): TracerOptions {
  const names: readonly string[] = CONFIG_MEMBERS[tracer];
  const set = Object.entries(config).filter(([name, value]) => value === true && names.includes(name));
  const timeouts = [timeout, inConfig].filter((milliseconds) => milliseconds !== undefined);
  return {
    tracer,
    tracerConfig: Object.fromEntries(set.sort(([a], [b]) => (a < b ? -1 : 1))),
    ...(timeouts.length > 0 && { timeoutMs: Math.min(...timeouts) }),
    ...(stateOverrides && { stateOverrides }),
    ...(blockOverrides && { blockOverrides }),
  };
}

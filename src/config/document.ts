import { type TSchema, Type } from 'typebox';
import { allowed } from './allowed.ts';
import { type Option, optionsOf } from './option.ts';
import { ConfigSchema } from './schema.ts';

const HEAD = `# Configuration

<!-- Made from src/config/schema.ts by \`npm run docs\`. Do not edit. -->

Every option can be set in a file, in an environment variable or on the command line; the later of these wins. The file is
\`floodgate.yaml\` in the working folder, or the one that \`--config\` or \`FLOODGATE_CONFIG\` names. An option that is
unknown, or has a value that is not allowed, is refused at the start with its name, its value and what is allowed. A variable that begins with
\`FLOODGATE_\` and is unknown is told in a warning with the nearest known one. Those that Kubernetes sets for a Service are known: of them
\`FLOODGATE_PORT=tcp://…\` is ignored with a warning, as the port is set by the file, a flag, or an explicit value in the pod's spec.

\`\`\`yaml
# floodgate.yaml
port: 8420
dataDir: /var/lib/floodgate
upstream:
  - http://127.0.0.1:8545
log:
  level: info
\`\`\`

A list is written with commas in a variable (\`FLOODGATE_UPSTREAM=http://a:8545,http://b:8545\`). On the command line, repeat the
flag or give it several values. \`floodgate dev\` has defaults of its own, which
\`floodgate dev --help\` shows.

Secrets do not belong in flags, which other users of the machine can see. Where an option has a variable that ends in \`_FILE\`, that one names a
file with the value, as containers and systemd hand secrets on (\`FLOODGATE_API_TOKEN_FILE=%d/api-token\` with \`LoadCredential=\`); of
a list each line is an item. It and the variable itself are not set together.

Where an option has a variable of OpenTelemetry's (\`OTEL_…\`), that one is read where no other variable and no flag sets the option.

\`floodgate config check\` reads all three as \`floodgate start\` would, and \`floodgate config print\` shows every option with where it comes from.
`;

/** The page docs/configuration.md: every option with its three names, its default and what is allowed. */
export function configurationPage(): string {
  const options = optionsOf(ConfigSchema);
  const groups = new Map<string, Option[]>();
  for (const option of options) {
    const group = option.path.includes('.') ? (option.path.split('.')[0] ?? '') : '';
    groups.set(group, [...(groups.get(group) ?? []), option]);
  }
  const sections = [...groups].map(([group, members]) =>
    [`## ${group === '' ? 'General' : `\`${group}\``}`, ...members.map(describe)].join('\n\n'),
  );
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`;
}

function describe({ path, variable, fileVariable, flag, schema }: Option): string {
  const variables = [variable, fileVariable, schema.standardVariable].filter((name) => name !== undefined);
  const names = schema.fileOnly
    ? 'only in the file'
    : [...variables, flag].map((name) => `\`${name}\``).join(', ');
  const lines = [
    `### \`${path}\``,
    '',
    schema.description ?? '',
    '',
    `- Names: ${names}`,
    `- Allowed: ${allowed(schema)}`,
    `- Default: ${defaultOf(schema)}`,
  ];
  return lines.join('\n');
}

function defaultOf(schema: TSchema & { readonly default?: unknown }): string {
  const { default: value } = schema;
  if (value === undefined) return 'none';
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((item) => `\`${item}\``).join(', ');
  if (typeof value === 'object' && value !== null) return 'none';
  return Type.IsString(schema) || Type.IsUnion(schema) ? `\`${value}\`` : String(value);
}

import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { ApiFailure, type RulesClient } from '../../rules/client/index.ts';
import type { RuleFormat } from '../../rules/index.ts';
import {
  applyPlan,
  formatPlan,
  isEmpty,
  makePlan,
  type Paint,
  type Plan,
  type PlanSubject,
  planAsJson,
  planFingerprint,
  readRuleFile,
  riskOf,
  type Step,
} from '../../rules/plan/index.ts';
import { EXIT_CODES } from '../exitCodes.ts';
import { OperatorError } from '../operatorError.ts';
import { print } from '../print.ts';
import { addConnectionFlags, connect } from './rulesConnection.ts';
import { printable } from './rulesTable.ts';

interface PlanOptions {
  readonly json?: boolean;
}

interface ApplyOptions {
  readonly force?: boolean;
  readonly plan?: string;
}

/** `floodgate rules plan|apply FILE`. */
export function registerPlan(rules: Command, format: RuleFormat): void {
  const plan = rules
    .command('plan')
    .description('show what would change for an account to have exactly the rules of a file')
    .argument('<file>', 'YAML with a list "rules"; - for standard input')
    .option('--json', 'print the plan as one line of JSON')
    .addHelpText('after', '\nExit status: 0 nothing to do, 2 there are changes, 1 it failed.')
    .action((file: string, _options: PlanOptions, command: Command) => showPlan(format, file, command));
  addConnectionFlags(plan);

  const apply = rules
    .command('apply')
    .description('make an account have exactly the rules of a file')
    .argument('<file>', 'YAML with a list "rules"; - for standard input')
    .option(
      '--force',
      'also where every rule would be deleted, or more than a third of ten or more changed or deleted',
    )
    .option('--plan <id>', 'only where the plan is still this one, as `rules plan` showed it')
    .action((file: string, _options: ApplyOptions, command: Command) => applyFile(format, file, command));
  addConnectionFlags(apply);
}

async function showPlan(format: RuleFormat, file: string, command: Command): Promise<void> {
  const { plan, client } = await planOf(command, { file, format });
  if (command.opts<PlanOptions>().json) await print(planAsJson(plan, client));
  else await printPlan(plan, client);
  const risk = riskOf(plan);
  if (risk !== undefined) process.stderr.write(`note: apply will want --force for this: it ${risk}\n`);
  if (!isEmpty(plan)) process.exitCode = EXIT_CODES.changes;
}

async function applyFile(format: RuleFormat, file: string, command: Command): Promise<void> {
  const signal = untilInterrupted();
  let done = 0;
  let total = 0;
  try {
    const { plan, client, wanted } = await planOf(command, { file, format, signal });
    await printPlan(plan, client);
    refuseOther(plan, client, command.opts<ApplyOptions>());
    total = plan.creates.length + plan.updates.length + plan.deletes.length;
    const onStep = (step: Step) => {
      done++;
      tellStep(step, `${done} of ${total}`);
    };
    await applyPlan(client, plan, { onStep, signal });
    if (total > 0 && !isEmpty(makePlan(await client.list(), wanted, format)))
      throw new OperatorError('The rules are not as in the file: somebody else changes them too');
  } catch (error) {
    if (total === 0 && !signal.aborted) throw error;
    const reason = signal.aborted ? 'Interrupted' : error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${reason}\n${whatWasDone(error, done, total)}`, { cause: error });
  }
}

/** Throws where a plan is not what whoever applies it has seen or would expect. */
function refuseOther(plan: Plan, subject: PlanSubject, { plan: expected, force }: ApplyOptions): void {
  const id = planFingerprint(plan, subject);
  if (expected !== undefined && expected !== id)
    throw new OperatorError(
      `The plan is ${id} now, not ${expected}; nothing was changed. It is of account ${subject.accountId} at ${subject.baseUrl}`,
    );
  const risk = riskOf(plan);
  if (risk !== undefined && !force)
    throw new OperatorError(`This ${risk}; nothing was changed. If that is meant, say --force`);
}

function tellStep(step: Step, progress: string): void {
  const { kind, rule } = step;
  process.stdout.write(`${kind} ${rule.scope} ${printable(rule.name)} (${progress})\n`);
  if (kind === 'created') for (const message of step.messages) process.stderr.write(`note: ${message}\n`);
}

function whatWasDone(error: unknown, done: number, total: number): string {
  if (done === 0 && total === 0) return 'Nothing was changed';
  // No answer came to the last one: it may have been made all the same.
  const unknown = error instanceof ApiFailure && error.afterLostAnswer ? ', and perhaps one more' : '';
  return `${done} of ${total} changes were made${unknown}; plan again to see what is left`;
}

/** Aborted by Ctrl-C or SIGTERM: the change under way is finished, so that what was done can be said. A second one ends at once. */
function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

interface PlanSource {
  readonly file: string;
  readonly format: RuleFormat;
  readonly signal?: AbortSignal;
}

async function planOf(command: Command, { file, format, signal }: PlanSource) {
  const fileName = file === '-' ? 'standard input' : file;
  const { account: fileAccount, rules: wanted } = readRuleFile(readText(file), fileName, format);
  const { client } = connect(command, { fileAccount, format, ...(signal && { signal }) });
  return { client, wanted, plan: makePlan(await client.list(), wanted, format) };
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function printPlan(plan: Plan, client: RulesClient): Promise<void> {
  const coloured = process.stdout.isTTY && !process.env['NO_COLOR'];
  const paint: Paint = (colour, text) => (coloured ? styleText(colour, text) : text);
  return print(formatPlan(plan, { subject: client, paint, format: client.format }));
}

import { styleText } from 'node:util';
import type { Command } from 'commander';
import { ApiFailure, type RulesClient } from '../../../rules/client/index.ts';
import type { RuleFormat } from '../../../rules/index.ts';
import {
  applyPlan,
  countChanges,
  formatPlan,
  isEmpty,
  type Paint,
  type Plan,
  type PlanSubject,
  planAsJson,
  planFingerprint,
  planFor,
  readRuleFile,
  riskOf,
  type Step,
} from '../../../rules/plan/index.ts';
import { EXIT_CODES } from '../../exitCodes.ts';
import { readTextFile } from '../../files/readTextFile.ts';
import { OperatorError } from '../../operatorError.ts';
import { print } from '../../output/print.ts';
import { addConnectionFlags, connect } from './rulesConnection.ts';
import { printable } from './rulesTable.ts';

interface PlanOptions {
  readonly json?: boolean;
}

interface ApplyOptions {
  readonly force?: boolean;
  readonly plan?: string;
}

/** `floodgate rules plan|apply FILE`: shows or makes the changes that lead from an account's rules to a file. */
export function registerPlan(rules: Command, format: RuleFormat): void {
  const plan = rules
    .command('plan')
    .description('show the changes that make the rules and zone policies of an account equal to a file')
    .argument('<file>', 'YAML with a list "rules", and optionally "zones"; - for standard input')
    .option('--json', 'print the plan as one line of JSON')
    .addHelpText('after', '\nExit status: 0 no changes, 2 changes, 1 failure.')
    .action((file: string, _options: PlanOptions, command: Command) => showPlan(format, file, command));
  addConnectionFlags(plan);

  const apply = rules
    .command('apply')
    .description('make the rules and zone policies of an account equal to a file')
    .argument('<file>', 'YAML with a list "rules", and optionally "zones"; - for standard input')
    .option(
      '--force',
      'apply even if every rule or zone policy would be deleted, or more than a third of ten or more changed or deleted',
    )
    .option('--plan <id>', 'apply only if the plan still has this id, from `rules plan`')
    .action((file: string, _options: ApplyOptions, command: Command) => applyFile(format, file, command));
  addConnectionFlags(apply);
}

async function showPlan(format: RuleFormat, file: string, command: Command): Promise<void> {
  const { plan, client } = await planOf(command, { file, format });
  if (command.opts<PlanOptions>().json) await print(planAsJson(plan, client));
  else await printPlan(plan, client);
  const risk = riskOf(plan);
  if (risk !== undefined) process.stderr.write(`note: apply requires --force, because the plan ${risk}\n`);
  if (!isEmpty(plan)) process.exitCode = EXIT_CODES.changes;
}

async function applyFile(format: RuleFormat, file: string, command: Command): Promise<void> {
  const signal = untilInterrupted();
  let done = 0;
  let total = 0;
  try {
    const { plan, client, wanted } = await planOf(command, { file, format, signal });
    await printPlan(plan, client);
    assertExpectedPlan(plan, client, command.opts<ApplyOptions>());
    total = countChanges(plan);
    const onStep = (step: Step) => {
      done++;
      printStep(step, `${done} of ${total}`);
    };
    await applyPlan(client, plan, { onStep, signal });
    if (total > 0 && !isEmpty(await planFor(client, wanted)))
      throw new OperatorError('The rules differ from the file: another client is changing them too');
  } catch (error) {
    if (total === 0 && !signal.aborted) throw error;
    const reason = signal.aborted ? 'Interrupted' : error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${reason}\n${progressOf(error, done, total)}`, { cause: error });
  }
}

/** Throws OperatorError if the plan differs from `--plan`, or is risky and `--force` is missing. */
function assertExpectedPlan(plan: Plan, subject: PlanSubject, { plan: expected, force }: ApplyOptions): void {
  const id = planFingerprint(plan, subject);
  if (expected !== undefined && expected !== id)
    throw new OperatorError(
      `The plan is ${id} now, not ${expected}; nothing was changed. It is for account ${subject.accountId} at ${subject.baseUrl}`,
    );
  const risk = riskOf(plan);
  if (risk !== undefined && !force)
    throw new OperatorError(`The plan ${risk}; nothing was changed. To apply it, use --force`);
}

function printStep(step: Step, progress: string): void {
  const subject = 'zone' in step ? `zone ${step.zone}` : `${step.rule.scope} ${step.rule.name}`;
  process.stdout.write(`${step.kind} ${printable(subject)} (${progress})\n`);
  if ('messages' in step) for (const message of step.messages) process.stderr.write(`note: ${message}\n`);
}

function progressOf(error: unknown, done: number, total: number): string {
  if (done === 0 && total === 0) return 'Nothing was changed';
  // The last change may have been applied, although its response was lost.
  const unknown = error instanceof ApiFailure && error.afterLostResponse ? ', and perhaps one more' : '';
  return `${done} of ${total} changes were applied${unknown}; run plan again to see the remaining ones`;
}

/**
 * Returns a signal that is aborted at the first SIGINT or SIGTERM. The current change is finished first, so that its
 * result can be reported. A second signal ends the process at once.
 */
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
  const { account: fileAccount, ...wanted } = readRuleFile(readTextFile(file), fileName, format);
  const { client } = await connect(command, { fileAccount, format, ...(signal && { signal }) });
  return { client, wanted, plan: await planFor(client, wanted) };
}

function printPlan(plan: Plan, client: RulesClient): Promise<void> {
  const coloured = process.stdout.isTTY && !process.env['NO_COLOR'];
  const paint: Paint = (colour, text) => (coloured ? styleText(colour, text) : text);
  return print(formatPlan(plan, { subject: client, paint, format: client.format }));
}

import { useSignal } from '@preact/signals';
import { changeQuery } from '../../../navigate.ts';
import { Choice } from '../../../ui/form/choice.tsx';
import { TextField } from '../../../ui/form/fields.tsx';
import { DIRECTIONS, TYPES } from '../filter.ts';
import { parseEther, UNITS } from '../frames/ether.ts';
import { useQuery } from '../traceUrl.ts';

const WORDS: Readonly<Record<string, string>> = { from: 'From it', to: 'To it', suicide: 'self-destruct' };
const optionsOf = (values: readonly string[]) =>
  values.map((value) => [value, WORDS[value] ?? value] as const);

const yesNo = (yes: string, no: string) =>
  [
    ['', 'Any'],
    ['yes', yes],
    ['no', no],
  ] as const;

export function FilterForm() {
  const min = useQuery().get('min') ?? '';
  return (
    <form class="row filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <Choice
        name="direction"
        title="Direction"
        options={[['', 'From or to it'], ...optionsOf(DIRECTIONS)]}
      />
      <Choice name="types" title="Type" options={[['', 'Any'], ...optionsOf(TYPES)]} />
      <MinValue key={min} min={min} />
      <Choice name="internal" title="Internal" options={yesNo('Only internal', 'Only transactions')} />
      <Choice name="failed" title="Failed" options={yesNo('Only failed', 'Only successful')} />
      <Choice name="order" title="Order" options={ORDERS} />
      <UnitChoice />
    </form>
  );
}

function MinValue({ min }: { readonly min: string }) {
  const text = useSignal(min);
  const wanted = text.value.trim();
  const isWrong = wanted !== '' && parseEther(wanted) === undefined;
  return (
    <TextField
      label="Minimum value, ETH"
      name="min"
      inputMode="decimal"
      placeholder="0"
      text={text}
      failure={{ faults: isWrong ? [{ field: 'min', message: 'is not a number such as 1,000.5' }] : [] }}
      onChange={() => !isWrong && changeQuery({ min: wanted })}
    />
  );
}

const ORDERS = [
  ['', 'Newest first'],
  ['oldest', 'Oldest first'],
] as const;

export const UnitChoice = () => (
  <Choice
    name="unit"
    title="Unit"
    options={Object.keys(UNITS).map((unit) => [unit === 'ETH' ? '' : unit, unit])}
  />
);

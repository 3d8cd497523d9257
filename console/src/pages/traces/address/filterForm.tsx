import { changeQuery } from '../../../navigate.ts';
import { Choice } from '../../../ui/form/choice.tsx';
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
      <label>
        Minimum value, ETH
        <input
          name="min"
          inputMode="decimal"
          autocomplete="off"
          placeholder="0"
          key={min}
          defaultValue={min}
          onChange={({ currentTarget: { value } }) => {
            if (value === '' || parseEther(value) !== undefined) changeQuery({ min: value.trim() });
          }}
        />
      </label>
      <Choice name="internal" title="Internal" options={yesNo('Only internal', 'Only transactions')} />
      <Choice name="failed" title="Failed" options={yesNo('Only failed', 'Only successful')} />
      <Choice name="order" title="Order" options={ORDERS} />
      <UnitChoice />
    </form>
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

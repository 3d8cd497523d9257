import { unitOf } from '../amount.tsx';
import { DIRECTIONS, type Filter, TYPES, withMember } from '../filter.ts';
import { parseEther, UNITS } from '../frames/ether.ts';

interface FilterFormProps {
  readonly query: URLSearchParams;
  readonly filter: Filter;
  readonly change: (query: string) => void;
}

const WORDS = {
  either: 'From or to it',
  from: 'From it',
  to: 'To it',
  suicide: 'self-destruct',
} as const;
const wordOf = (value: string): string => (value in WORDS ? WORDS[value as keyof typeof WORDS] : value);

/** Form of the filter for the traces of an address. Each change opens the URL with the changed filter. */
export function FilterForm({ query, filter, change }: FilterFormProps) {
  const set = (name: string, value: string) => change(withMember(query, name, value));
  return (
    <form class="row filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <Choice
        label="Direction"
        value={filter.direction ?? ''}
        options={DIRECTIONS.map((direction) => [direction === 'either' ? '' : direction, wordOf(direction)])}
        set={(value) => set('direction', value)}
      />
      <Choice
        label="Type"
        value={filter.types?.join(',') ?? ''}
        options={[['', 'Any'], ...TYPES.map((type) => [type, wordOf(type)] as const)]}
        set={(value) => set('types', value)}
      />
      <label>
        Minimum value, ETH
        <input
          name="min"
          inputMode="decimal"
          autocomplete="off"
          placeholder="0"
          key={query.get('min')}
          defaultValue={query.get('min') ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (value === '' || parseEther(value) !== undefined) set('min', value.trim());
          }}
        />
      </label>
      <YesNo
        label="Internal"
        name="internal"
        value={filter.internal}
        words={['Only internal', 'Only transactions']}
        set={set}
      />
      <YesNo
        label="Failed"
        name="failed"
        value={filter.failed}
        words={['Only failed', 'Only successful']}
        set={set}
      />
      <Choice
        label="Order"
        value={filter.order === 'asc' ? 'oldest' : ''}
        options={[
          ['', 'Newest first'],
          ['oldest', 'Oldest first'],
        ]}
        set={(value) => set('order', value)}
      />
      <UnitChoice query={query} change={change} />
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, word: string])[];
  readonly set: (value: string) => void;
}

/** Selects the unit of the values. */
export function UnitChoice({ query, change }: Pick<FilterFormProps, 'query' | 'change'>) {
  const units = Object.keys(UNITS).map((unit) => [unit === 'ETH' ? '' : unit, unit] as const);
  const unit = unitOf(query);
  return (
    <Choice
      label="Unit"
      value={unit === 'ETH' ? '' : unit}
      options={units}
      set={(value) => change(withMember(query, 'unit', value))}
    />
  );
}

function Choice({ label, value, options, set }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

interface YesNoProps {
  readonly label: string;
  readonly name: string;
  readonly value: boolean | undefined;
  readonly words: readonly [yes: string, no: string];
  readonly set: (name: string, value: string) => void;
}

function YesNo({ label, name, value, words: [yes, no], set }: YesNoProps) {
  return (
    <Choice
      label={label}
      value={value === undefined ? '' : value ? 'yes' : 'no'}
      options={[
        ['', 'Any'],
        ['yes', yes],
        ['no', no],
      ]}
      set={(chosen) => set(name, chosen)}
    />
  );
}

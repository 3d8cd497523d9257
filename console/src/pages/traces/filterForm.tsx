import { weiOf } from './ether.ts';
import { DIRECTIONS, type Filter, TYPES, withMember } from './filter.ts';

interface FilterFormProps {
  readonly query: URLSearchParams;
  readonly filter: Filter;
  readonly change: (query: string) => void;
}

const WORDS = {
  either: 'from or to it',
  from: 'from it',
  to: 'to it',
  suicide: 'self-destruct',
} as const;
const wordOf = (value: string): string => (value in WORDS ? WORDS[value as keyof typeof WORDS] : value);

/** Each change is a URL. */
export function FilterForm({ query, filter, change }: FilterFormProps) {
  const set = (name: string, value: string) => change(withMember(query, name, value));
  return (
    <form class="row filters" aria-label="Which traces" onSubmit={(event) => event.preventDefault()}>
      <Choice
        label="direction"
        value={filter.direction ?? ''}
        options={DIRECTIONS.map((direction) => [direction === 'either' ? '' : direction, wordOf(direction)])}
        set={(value) => set('direction', value)}
      />
      <Choice
        label="type"
        value={filter.types?.join(',') ?? ''}
        options={[['', 'any'], ...TYPES.map((type) => [type, wordOf(type)] as const)]}
        set={(value) => set('types', value)}
      />
      <label>
        at least, in ETH
        <input
          name="min"
          inputMode="decimal"
          autocomplete="off"
          placeholder="0"
          key={query.get('min')}
          defaultValue={query.get('min') ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (value === '' || weiOf(value) !== undefined) set('min', value.trim());
          }}
        />
      </label>
      <YesNo
        label="internal"
        name="internal"
        value={filter.internal}
        words={['only internal', 'only transactions']}
        set={set}
      />
      <YesNo
        label="failed"
        name="failed"
        value={filter.failed}
        words={['only failed', 'only those that did not']}
        set={set}
      />
      <Choice
        label="order"
        value={filter.order === 'asc' ? 'oldest' : ''}
        options={[
          ['', 'newest first'],
          ['oldest', 'oldest first'],
        ]}
        set={(value) => set('order', value)}
      />
    </form>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, word: string])[];
  readonly set: (value: string) => void;
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
        ['', 'any'],
        ['yes', yes],
        ['no', no],
      ]}
      set={(chosen) => set(name, chosen)}
    />
  );
}

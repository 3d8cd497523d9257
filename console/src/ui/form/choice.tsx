import { useSearch } from 'wouter-preact';
import { changeQuery } from '../../navigate.ts';
import { bindingTo, SelectField } from './fields.tsx';

interface ChoiceProps {
  /** Parameter of the URL that the choice sets; the first page is shown then. The empty value removes it. */
  readonly name: string;
  readonly title: string;
  readonly isTitleHidden?: boolean;
  readonly options: readonly (readonly [value: string, text: string])[];
}

export function Choice({ name, title, isTitleHidden = false, options }: ChoiceProps) {
  const value = new URLSearchParams(useSearch()).get(name) ?? '';
  const chosen = bindingTo(value, (wanted) => changeQuery({ [name]: wanted, cursor: '', page: '' }));
  return <SelectField label={title} isLabelHidden={isTitleHidden} chosen={chosen} options={options} />;
}

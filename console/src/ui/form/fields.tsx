/** Fields of forms: a label with its control, a note, and the errors that the server reported for the field. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import type { Failure } from '../../api/failure.ts';
import { UntrustedText } from '../value/untrustedText.tsx';

/** The text of a field: a signal, or a part of an object of settings. */
export interface Binding {
  value: string;
}

/** Returns a binding that calls `change` with each new text. */
export const bindingTo = (text: string, change: (text: string) => void): Binding => ({
  get value() {
    return text;
  },
  set value(wanted) {
    change(wanted);
  },
});

/** Returns the binding of one of several texts. */
export const bindingOf = <Texts extends Readonly<Record<string, string>>>(
  texts: Texts,
  change: (texts: Texts) => void,
  name: keyof Texts & string,
): Binding => bindingTo(texts[name] ?? '', (text) => change({ ...texts, [name]: text }));

interface FieldProps {
  readonly label: ComponentChildren;
  readonly isLabelHidden?: boolean;
  readonly note?: ComponentChildren;
  /** Name of the field in requests. */
  readonly name?: string;
  /** Failure of the last request, which may have errors of this field. */
  readonly failure?: Pick<Failure, 'faults'> | undefined;
}

const errorOf = ({ failure, name }: FieldProps): string =>
  (failure?.faults ?? []).flatMap(({ field, message }) => (field === name ? message : [])).join('; ');

interface LabelledProps {
  readonly id: string;
  readonly field: FieldProps;
  readonly children: ComponentChildren;
}

function Labelled({ id, field, children }: LabelledProps) {
  const { label, isLabelHidden, note, name } = field;
  const error = errorOf(field);
  const labelled = (
    <label for={id}>
      <span id={`${id}-label`} class={isLabelHidden ? 'unseen' : undefined}>
        {label}
      </span>
      {children}
      {note && (
        <span id={`${id}-note`} class="note">
          {note}
        </span>
      )}
    </label>
  );
  // The element is there before the first error: the input would lose the focus if it were created again.
  return 'failure' in field ? (
    <div>
      {labelled}
      {error !== '' && (
        <p id={`error-${name}`} class="note harm">
          ✕ <UntrustedText text={error} />
        </p>
      )}
    </div>
  ) : (
    labelled
  );
}

/** Attributes of the control. The note is in the label, so that a click on it works, but not in its accessible name. */
function attributesOf<Field extends FieldProps>(id: string, field: Field) {
  const { label: _, isLabelHidden: _hidden, note, failure: _failure, ...attributes } = field;
  const isInvalid = errorOf(field) !== '';
  const described = [
    ...(note ? [`${id}-note`] : []),
    ...(isInvalid ? [`error-${attributes.name}`] : []),
  ].join(' ');
  return {
    ...attributes,
    id,
    'aria-labelledby': `${id}-label`,
    ...(isInvalid && { 'aria-invalid': true as const }),
    ...(described !== '' && { 'aria-describedby': described }),
  };
}

interface TextFieldProps extends FieldProps, Omit<InputHTMLAttributes<HTMLInputElement>, keyof FieldProps> {
  readonly text: Binding;
  /** Number of lines of a field for longer text. Default: an input of one line. */
  readonly rows?: number;
}

/** Text input without autocompletion and spell checking. */
export function TextField({ text, children, rows, ...field }: TextFieldProps) {
  const id = useId();
  const Control = (rows === undefined ? 'input' : 'textarea') as 'input'; // both have all attributes set here
  return (
    <Labelled id={id} field={field}>
      <Control
        autocomplete="off"
        spellcheck={false}
        {...attributesOf(id, field)}
        {...{ rows }} // only a textarea has this attribute
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      {children}
    </Labelled>
  );
}

interface SelectFieldProps extends FieldProps {
  readonly chosen: Binding;
  readonly options: readonly (readonly [value: string, text: string])[];
}

export function SelectField({ chosen, options, ...field }: SelectFieldProps) {
  const id = useId();
  return (
    <Labelled id={id} field={field}>
      <select
        {...attributesOf(id, field)}
        value={chosen.value}
        onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

interface CheckFieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'label'> {
  readonly label: ComponentChildren;
  readonly change: (isChecked: boolean) => void;
}

export const CheckField = ({ label, change, ...attributes }: CheckFieldProps) => (
  <label class="check">
    <input type="checkbox" {...attributes} onChange={({ currentTarget }) => change(currentTarget.checked)} />
    <span>{label}</span>
  </label>
);

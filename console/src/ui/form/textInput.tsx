import type { Signal } from '@preact/signals';
import type { InputHTMLAttributes } from 'preact';

interface TextInputProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly text: Signal<string>;
}

/** Text input that is bound to a signal, without autocompletion and spell checking. */
export function TextInput({ text, ...attributes }: TextInputProps) {
  return (
    <input
      autocomplete="off"
      spellcheck={false}
      {...attributes}
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value;
      }}
    />
  );
}

import { Copy } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  /** How to try it, in a shell. */
  readonly use: string;
  readonly close: () => void;
}

/** Shown once: it is kept nowhere, here neither. */
export function Secret({ title, secret, use, close }: SecretProps) {
  return (
    <Dialog title={title} close={close}>
      <p>
        <strong>It is shown this once.</strong> The server keeps no copy of it. Put it where only its user can
        read it.
      </p>
      <div class="lines">
        <pre class="secret">{secret}</pre>
        <Copy text={secret} />
      </div>
      <p class="quiet">To try it:</p>
      <div class="lines">
        <pre>{use}</pre>
        <Copy text={use} />
      </div>
      <div class="actions">
        <button type="button" class="primary" onClick={close}>
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}

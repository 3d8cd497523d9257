import { Copy } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/form/dialog.tsx';

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  readonly use: string;
  readonly close: () => void;
}

/** Shows the secret of a new token or key. Neither the server nor the console stores the secret. */
export function Secret({ title, secret, use, close }: SecretProps) {
  return (
    <Dialog title={title} close={close}>
      <p>
        <strong>It is shown only once.</strong> The server keeps no copy. Store it where only its user can
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
          I have saved it
        </button>
      </div>
    </Dialog>
  );
}

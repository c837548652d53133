/** A self-signed certificate for 127.0.0.1 and its key, as PEM, for tests over HTTPS. */
export declare const cert: string
export declare const key: string

// Names of variables that look as if they held a secret: their values are not shown unasked.

export const SECRET_NAME =
  /(?:^|_)(?:PASS|PASSWD|PASSWORD|PASSPHRASE|PWD_HASH|SECRET|SECRETS|TOKEN|TOKENS|CREDENTIALS?|CREDS?|AUTH|COOKIE|KEY|KEYS|APIKEY|PRIVATE|DSN)(?:_|\d|$)|(?:SECRET|TOKEN|PASSWORD|APIKEY)|^DATABASE_URL$|CONNECTION_STRING/i;

/**
 * What `/version` says. Clients compare it with their own release (kubectl warns when they are far apart), so it names
 * the Kubernetes release whose API this is.
 */
export const versionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2+isthmus',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: `node ${process.version}`,
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
} as const

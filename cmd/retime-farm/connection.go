package main

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	tlog "go.temporal.io/sdk/log"
)

// connection holds the flags that say where the Temporal server is. They have the same names as in
// Temporal's own tools, and like those tools retime-farm also reads the environment
// (TEMPORAL_ADDRESS and so on) and the profiles of temporal.toml.
type connection struct {
	address, namespace, apiKey, profile, configFile string
	tls                                             bool
	tlsCert, tlsKey, tlsCA, tlsName                 string
	tlsNoHostCheck                                  bool
	queue                                           string
}

func (c *connection) addFlags(f *pflag.FlagSet) {
	f.StringVar(&c.address, "address", "", "Temporal server (default localhost:7233)")
	f.StringVarP(&c.namespace, "namespace", "n", "", "Temporal namespace (default default)")
	f.StringVar(&c.apiKey, "api-key", "", "API key; TEMPORAL_API_KEY keeps it off the list of processes")
	f.BoolVar(&c.tls, "tls", false, "connect with TLS")
	f.StringVar(&c.tlsCert, "tls-cert-path", "", "own certificate, in PEM")
	f.StringVar(&c.tlsKey, "tls-key-path", "", "own private key, in PEM")
	f.StringVar(&c.tlsCA, "tls-ca-path", "", "certificates to check the server's against, in PEM")
	f.StringVar(&c.tlsName, "tls-server-name", "", "name that the server's certificate must have")
	f.BoolVar(&c.tlsNoHostCheck, "tls-disable-host-verification", false, "do not check the name in the server's certificate")
	f.StringVar(&c.profile, "profile", "", "profile of temporal.toml")
	f.StringVar(&c.configFile, "config-file", "", "temporal.toml")
	f.StringVar(&c.queue, "queue", "retime", "prefix of the task queues' names")
}

// options returns the client's options: flags override the environment, which overrides the file.
func (c *connection) options() (client.Options, error) {
	p, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{ConfigFilePath: c.configFile, ConfigFileProfile: c.profile})
	if err != nil {
		return client.Options{}, &exit{2, fmt.Errorf("settings of Temporal: %w", err)}
	}
	take := func(to *string, flag string) {
		if flag != "" {
			*to = flag
		}
	}
	take(&p.Address, c.address)
	take(&p.Namespace, c.namespace)
	take(&p.APIKey, c.apiKey)
	if c.tls || c.tlsNoHostCheck || c.tlsCert+c.tlsKey+c.tlsCA+c.tlsName != "" {
		if p.TLS == nil {
			p.TLS = &envconfig.ClientConfigTLS{}
		}
		take(&p.TLS.ClientCertPath, c.tlsCert)
		take(&p.TLS.ClientKeyPath, c.tlsKey)
		take(&p.TLS.ServerCACertPath, c.tlsCA)
		take(&p.TLS.ServerName, c.tlsName)
		p.TLS.DisableHostVerification = p.TLS.DisableHostVerification || c.tlsNoHostCheck
	}
	o, err := p.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return o, &exit{2, fmt.Errorf("settings of Temporal: %w", err)}
	}
	o.Logger = tlog.NewStructuredLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	o.ConnectionOptions.GetSystemInfoTimeout = patience
	return o, nil
}

// patience is how long a server may stay silent after it has accepted the connection.
const patience = 30 * time.Second

// dial connects to the server.
func (c *connection) dial(o client.Options) (client.Client, error) {
	t, err := client.Dial(o)
	if err != nil {
		if o.HostPort == "" {
			return nil, &exit{75, fmt.Errorf("no Temporal server at %s; --address names another, and retime-farm dev starts one: %w", client.DefaultHostPort, err)}
		}
		return nil, &exit{75, fmt.Errorf("cannot connect to the Temporal server at %s; see whether it runs, and whether both sides use TLS: %w", o.HostPort, err)}
	}
	return t, nil
}

// connect is dial with the flags' options.
func (c *connection) connect() (client.Client, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	return c.dial(o)
}

namespace Sluice.Usenet.Nntp;

/// <summary>The role of a provider (<c>Type</c> in the settings).</summary>
public enum ProviderKind
{
    Disabled = 0,

    /// <summary>Serves every fetch, together with the other pooled providers.</summary>
    Pooled = 1,

    /// <summary>Asked only if no pooled provider delivers the article; takes part in availability checks.</summary>
    BackupWithChecks = 2,

    /// <summary>Asked only if no other provider delivers the article.</summary>
    BackupOnly = 3,
}

/// <summary>One Usenet account in the settings.</summary>
/// <remarks>Immutable. Hosts and credentials contain no CR, LF or NUL, because the settings reader checks for these.</remarks>
public sealed record ProviderOptions
{
    /// <summary>Stable id, and the key for everything remembered about the provider.</summary>
    public Guid Id { get; init; } = Guid.NewGuid();

    public required string Name { get; init; }

    public required string Host { get; init; }

    /// <summary>TCP port, 1–65535; usually 563 with TLS and 119 without.</summary>
    public int Port { get; init; } = 563;

    /// <summary>TLS from the first byte. Never falls back to plain text.</summary>
    public bool UseTls { get; init; } = true;

    /// <summary>Accepts any certificate; only for servers the user knows personally.</summary>
    public bool SkipTlsVerification { get; init; }

    /// <summary>SHA-256 of the public key in hex, checked in addition to the chain; null for no pin.</summary>
    public string? TlsPin { get; init; }

    /// <summary>User name; null if the server needs no login.</summary>
    public string? User { get; init; }

    public string? Password { get; init; }

    /// <summary>Maximum number of sockets at any time, including closing ones; 1–500.</summary>
    public int MaxConnections { get; init; } = 20;

    public ProviderKind Kind { get; init; } = ProviderKind.Pooled;

    /// <summary>0–99; among providers of one kind, lower numbers come first.</summary>
    public int Priority { get; init; }

    /// <summary>Outstanding commands per connection; null adapts to the line, 1 never pipelines.</summary>
    public int? PipeliningDepth { get; init; }

    /// <summary>Name of the store shared by several providers, so that a miss at one provider counts for all; empty if unknown.</summary>
    public string Backbone { get; init; } = "";

    /// <summary>The data cap of the account; null if it has none.</summary>
    public DataQuota? Quota { get; init; }

    /// <summary>Whether a connection opened for another entry of the account can also serve this entry.</summary>
    internal bool HasLoginOf(ProviderOptions other) =>
        (User, Password, UseTls, SkipTlsVerification, TlsPin) == (other.User, other.Password, other.UseTls, other.SkipTlsVerification, other.TlsPin);

    /// <summary>The name, host and port, but never credentials.</summary>
    public override string ToString() => $"{Name} ({Host}:{Port})";
}

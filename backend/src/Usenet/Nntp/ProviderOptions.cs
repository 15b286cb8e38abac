namespace Sluice.Usenet.Nntp;

/// <summary>How a provider takes part (<c>Type</c> in the settings).</summary>
public enum ProviderKind
{
    /// <summary>Not used.</summary>
    Disabled = 0,

    /// <summary>Takes its share of every fetch.</summary>
    Pooled = 1,

    /// <summary>Asked after the pooled ones missed; takes part in availability checks.</summary>
    BackupWithChecks = 2,

    /// <summary>Asked only after all others missed.</summary>
    BackupOnly = 3,
}

/// <summary>One Usenet account: where it is and what it allows.</summary>
/// <remarks>Immutable. Hosts and credentials hold no CR, LF or NUL; the reader of the settings has checked that.</remarks>
public sealed record ProviderOptions
{
    /// <summary>Stable id, the key of what is remembered about the provider.</summary>
    public Guid Id { get; init; } = Guid.NewGuid();

    /// <summary>Name for logs and the user.</summary>
    public required string Name { get; init; }

    /// <summary>Host name or address.</summary>
    public required string Host { get; init; }

    /// <summary>TCP port, 1–65535: 563 with TLS, 119 without, by custom.</summary>
    public int Port { get; init; } = 563;

    /// <summary>TLS from the first byte. There is no silent fall-back to plain text.</summary>
    public bool UseTls { get; init; } = true;

    /// <summary>Accepts any certificate. Only for servers whose owner is known to the user.</summary>
    public bool SkipTlsVerification { get; init; }

    /// <summary>SHA-256 of the public key in hex, checked in addition to the chain; null for none.</summary>
    public string? TlsPin { get; init; }

    /// <summary>User name, or null when the server asks for none.</summary>
    public string? User { get; init; }

    /// <summary>Password, or null.</summary>
    public string? Password { get; init; }

    /// <summary>Most sockets at any time, those that are still closing included; 1–500.</summary>
    public int MaxConnections { get; init; } = 20;

    /// <summary>How the provider takes part.</summary>
    public ProviderKind Kind { get; init; } = ProviderKind.Pooled;

    /// <summary>0–99, lower first among providers of one kind.</summary>
    public int Priority { get; init; }

    /// <summary>Commands outstanding per connection: null adapts to the line, 1 never pipelines.</summary>
    public int? PipeliningDepth { get; init; }

    /// <summary>Upstream store that several providers share; a miss at one is a miss at all. Empty: none known.</summary>
    public string Backbone { get; init; } = "";

    /// <summary>Whether a connection that was opened for another entry of the account is one of this entry too.</summary>
    internal bool HasLoginOf(ProviderOptions other) =>
        (User, Password, UseTls, SkipTlsVerification, TlsPin) == (other.User, other.Password, other.UseTls, other.SkipTlsVerification, other.TlsPin);

    /// <summary>The name, host and port; never credentials.</summary>
    public override string ToString() => $"{Name} ({Host}:{Port})";
}

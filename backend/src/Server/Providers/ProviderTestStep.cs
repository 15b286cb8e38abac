namespace Sluice.Server.Providers;

/// <summary>The stages of a check, in their order.</summary>
internal enum ProviderTestStage
{
    /// <summary>Resolves the host name.</summary>
    Dns,

    Tcp,

    Tls,

    /// <summary>Waits for the greeting and logs in.</summary>
    Login,

    /// <summary>Counts the connections that the account allows.</summary>
    Ceiling,

    /// <summary>Measures how fast articles arrive.</summary>
    Speed,
}

/// <summary>How far a stage is.</summary>
internal enum ProviderTestState
{
    Running,

    Ok,

    /// <summary>Failed, which ends the check.</summary>
    Failed,

    /// <summary>Does not apply, or found nothing out without failing.</summary>
    Skipped,
}

/// <summary>Why a check failed.</summary>
internal enum ProviderTestCause
{
    /// <summary>The host name has no address.</summary>
    UnknownHost,

    /// <summary>The server refuses to contact this address (S10).</summary>
    ForbiddenAddress,

    /// <summary>Nothing listens on the port.</summary>
    ConnectionRefused,

    /// <summary>No answer within the timeout.</summary>
    Silent,

    /// <summary>TLS is on, but the port speaks plain text.</summary>
    PlainPort,

    /// <summary>TLS is off, but the port speaks TLS.</summary>
    TlsPort,

    /// <summary>The certificate is for another name, expired or from an unknown issuer.</summary>
    BadCertificate,

    /// <summary>Another kind of server answers.</summary>
    NotNntp,

    /// <summary>Wrong user or password.</summary>
    WrongLogin,

    /// <summary>The account is expired or blocked.</summary>
    AccountExpired,

    /// <summary>All connections of the account are in use.</summary>
    TooManyConnections,

    /// <summary>The server refuses for another reason.</summary>
    Refused,

    /// <summary>The saved password is not sent to another address, so it must be entered again.</summary>
    PasswordNeeded,
}

/// <summary>Progress of one stage.</summary>
/// <param name="State">How far it is.</param>
/// <param name="Ms">Milliseconds since the stage began.</param>
/// <param name="Cause">Why it failed; null unless it failed.</param>
/// <param name="Sentence">The cause or the finding as a sentence; may be null.</param>
/// <param name="Value">Connections for the ceiling, bytes per second for the speed; otherwise null.</param>
internal sealed record ProviderTestStep(
    ProviderTestStage Stage, ProviderTestState State, double Ms, ProviderTestCause? Cause, string? Sentence, long? Value);

/// <summary>The result of a check.</summary>
/// <param name="Ok">Whether the account can be used.</param>
/// <param name="Connections">Connections worth setting; null if unknown.</param>
/// <param name="BytesPerSecond">Measured speed; null if not measured.</param>
internal sealed record ProviderTestOutcome(bool Ok, int? Connections, long? BytesPerSecond);

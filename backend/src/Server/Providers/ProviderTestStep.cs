namespace Sluice.Server.Providers;

/// <summary>The stages of a check, in order.</summary>
internal enum ProviderTestStage
{
    /// <summary>Resolves the host name.</summary>
    Dns,

    Tcp,

    Tls,

    /// <summary>Waits for the greeting and logs in.</summary>
    Login,

    /// <summary>Finds the maximum connections of the account.</summary>
    Ceiling,

    /// <summary>Measures the download speed.</summary>
    Speed,
}

/// <summary>The state of a stage.</summary>
internal enum ProviderTestState
{
    Running,

    Ok,

    /// <summary>Failed, which ends the check.</summary>
    Failed,

    /// <summary>Not applicable, or without a result although nothing failed.</summary>
    Skipped,
}

/// <summary>Why a check failed.</summary>
internal enum ProviderTestCause
{
    /// <summary>The host name has no address.</summary>
    UnknownHost,

    /// <summary>Sluice does not contact this address (S10).</summary>
    ForbiddenAddress,

    /// <summary>Nothing listens on the port.</summary>
    ConnectionRefused,

    /// <summary>The server did not answer in time.</summary>
    Silent,

    /// <summary>TLS is on, but the port speaks plain text.</summary>
    PlainPort,

    /// <summary>TLS is off, but the port speaks TLS.</summary>
    TlsPort,

    /// <summary>The certificate is for another name, expired, or from an unknown issuer.</summary>
    BadCertificate,

    /// <summary>The server speaks another protocol.</summary>
    NotNntp,

    /// <summary>Wrong username or password.</summary>
    WrongLogin,

    /// <summary>The account is expired or blocked.</summary>
    AccountExpired,

    /// <summary>All connections of the account are in use.</summary>
    TooManyConnections,

    /// <summary>The server refused for another reason.</summary>
    Refused,

    /// <summary>The password must be entered again, because the saved one is not sent to another address.</summary>
    PasswordNeeded,
}

/// <summary>Progress of one stage.</summary>
/// <param name="State">State of the stage.</param>
/// <param name="Ms">Milliseconds since the stage began.</param>
/// <param name="Cause">Why the stage failed; otherwise null.</param>
/// <param name="Sentence">The cause or result as a sentence, or null.</param>
/// <param name="Value">Number of connections (Ceiling) or bytes per second (Speed); otherwise null.</param>
internal sealed record ProviderTestStep(
    ProviderTestStage Stage, ProviderTestState State, double Ms, ProviderTestCause? Cause, string? Sentence, long? Value);

/// <summary>The result of a check.</summary>
/// <param name="Ok">Whether the account can be used.</param>
/// <param name="Connections">Recommended number of connections; null if unknown.</param>
/// <param name="BytesPerSecond">Speed in bytes per second; null if not measured.</param>
internal sealed record ProviderTestOutcome(bool Ok, int? Connections, long? BytesPerSecond);

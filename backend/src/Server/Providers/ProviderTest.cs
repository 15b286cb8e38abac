using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Providers;

/// <summary>The steps of a test, in their order.</summary>
internal enum ProviderTestStage
{
    /// <summary>The name is looked up.</summary>
    Dns,

    /// <summary>A connection is made.</summary>
    Tcp,

    /// <summary>TLS begins.</summary>
    Tls,

    /// <summary>The server greets and accepts user and password.</summary>
    Login,

    /// <summary>How many connections are allowed.</summary>
    Ceiling,

    /// <summary>How fast articles come.</summary>
    Speed,
}

/// <summary>What has become of a step.</summary>
internal enum ProviderTestState
{
    /// <summary>It is under way.</summary>
    Running,

    /// <summary>It passed.</summary>
    Ok,

    /// <summary>It failed, and with it the test.</summary>
    Failed,

    /// <summary>It told nothing, which is no failure.</summary>
    Skipped,
}

/// <summary>Why a test failed.</summary>
internal enum ProviderTestCause
{
    /// <summary>There is no such host.</summary>
    UnknownHost,

    /// <summary>The address must not be asked.</summary>
    ForbiddenAddress,

    /// <summary>Nothing listens there.</summary>
    ConnectionRefused,

    /// <summary>Nothing answers.</summary>
    Silent,

    /// <summary>The port speaks no TLS.</summary>
    PlainPort,

    /// <summary>The port speaks TLS and was spoken to without.</summary>
    TlsPort,

    /// <summary>The certificate is for another name, too old, or of no known issuer.</summary>
    BadCertificate,

    /// <summary>What answers is no news server.</summary>
    NotNntp,

    /// <summary>User or password is wrong.</summary>
    WrongLogin,

    /// <summary>The account is expired or blocked.</summary>
    AccountExpired,

    /// <summary>All connections of the account are in use.</summary>
    TooManyConnections,

    /// <summary>The server refuses for another reason.</summary>
    Refused,

    /// <summary>The password is needed again, because the address is another one.</summary>
    PasswordNeeded,
}

/// <summary>News of a step.</summary>
/// <param name="Stage">Which.</param>
/// <param name="State">What has become of it.</param>
/// <param name="Time">How long it has taken so far.</param>
/// <param name="Cause">Why it failed; null where it did not.</param>
/// <param name="Sentence">The same for people, or what was found; null for nothing.</param>
/// <param name="Value">Connections of the ceiling, bytes per second of the speed; null elsewhere.</param>
internal sealed record TestStep(ProviderTestStage Stage, ProviderTestState State, TimeSpan Time, ProviderTestCause? Cause = null, string? Sentence = null, long? Value = null);

/// <summary>An article that shows how fast a provider is.</summary>
/// <param name="Id">Its name.</param>
/// <param name="Bytes">Its size as posted.</param>
internal readonly record struct SpeedArticle(MessageId Id, int Bytes);

/// <summary>Finds articles that a provider will probably have; few or none where there are none here.</summary>
internal delegate Task<IReadOnlyList<SpeedArticle>> SpeedArticles(CancellationToken cancellationToken);

/// <summary>What is to be tested.</summary>
/// <param name="Provider">Where and with which login.</param>
/// <param name="NeedsPassword">Whether the login cannot be tried because no password may be sent.</param>
/// <param name="IsSavedHost">Whether the settings name the host already.</param>
/// <param name="MostConnections">The ceiling is looked for up to this many.</param>
internal sealed record TestSubject(ProviderOptions Provider, bool NeedsPassword, bool IsSavedHost, int MostConnections);

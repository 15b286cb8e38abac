namespace Sluice.Usenet.Nntp;

/// <summary>The steps of opening a connection, in this order.</summary>
public enum DialStep
{
    /// <summary>Resolving the host name.</summary>
    Name,

    /// <summary>Connecting over TCP.</summary>
    Connect,

    /// <summary>The TLS handshake; skipped without TLS.</summary>
    Secure,

    /// <summary>Waiting for the server's greeting.</summary>
    Greet,

    /// <summary>Sending user name and password; skipped without a user.</summary>
    LogIn,
}

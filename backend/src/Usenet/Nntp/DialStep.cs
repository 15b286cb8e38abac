namespace Sluice.Usenet.Nntp;

/// <summary>What is done to open a connection, in this order.</summary>
public enum DialStep
{
    /// <summary>The addresses of the host are looked up.</summary>
    Name,

    /// <summary>TCP.</summary>
    Connect,

    /// <summary>TLS; left out where none is spoken.</summary>
    Secure,

    /// <summary>The server is to greet.</summary>
    Greet,

    /// <summary>User and password; left out where there is no user.</summary>
    LogIn,
}

using System.Globalization;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>Says of each fault of a provider what it is and what can be done, in words for people. Pure; holds no password.</summary>
internal static class ProviderSentences
{
    /// <summary>The sentence of a fault.</summary>
    /// <param name="fault">What broke.</param>
    /// <param name="provider">Where.</param>
    /// <param name="detail">The words behind it, as <see cref="NntpException.Detail"/> has them; null for none.</param>
    public static string Of(NntpFault fault, ProviderOptions provider, string? detail)
    {
        var host = provider.Host;
        var said = Said(provider, detail);
        return fault switch
        {
            NntpFault.NameNotResolved => $"There is no host named {host}. Check the spelling, and that this machine can look up names.",
            NntpFault.ConnectFailed => $"Nothing answers at {Address(provider)}. Check the port: most providers use 563 with TLS and 119 without.",
            NntpFault.ConnectTimeout => $"{Address(provider)} did not answer in time. Check host and port, and whether a firewall is in between.",
            NntpFault.TlsFailed => PlainPort(provider),
            NntpFault.CertificateRefused => $"{host} shows a certificate that {detail ?? "cannot be trusted"}. Check the host name, and the clock of this machine; skip the check only if you know the server.",
            NntpFault.GreetingRefused => $"{host} takes no connection at the moment{said}. Try again later.",
            NntpFault.LoginRefused => $"{host} refuses user or password{said}. Copy both from your account page: they often differ from those of the web site.",
            NntpFault.AccountRefused => $"{host} says that the account cannot be used{said}. Look whether it has expired or is used up.",
            NntpFault.TooManyConnections => $"{host} allows no more connections{said}. Stop other programs that use this account, or set fewer connections.",
            NntpFault.ConnectionClosed => $"{host} closed the connection. It is tried again in a moment.",
            NntpFault.Stalled => $"{host} stopped sending. It is tried again in a moment.",
            NntpFault.GivenUp => $"{host} was too slow, and was left for others. It is tried again in a moment.",
            NntpFault.Broken => $"A fault in this program ended a connection to {host}. The log says more.",
            NntpFault.MalformedReply when said.Length > 0 => $"{host} sends articles without their names{said}, so that Sluice cannot tell one from another. If this is a proxy, connect to the provider itself.",
            NntpFault.MalformedReply => NotNntp(provider),
            NntpFault.WrongArticle => $"{host} sent other articles than those asked for. It is tried again in a moment.",
            NntpFault.UnexpectedCode => $"{host} refuses what every news server does{said}. It is tried again in a moment.",
            NntpFault.ArticleTooLarge => $"{host} sent more than an article may hold. It is tried again in a moment.",
            NntpFault.NoConnection => $"No connection to {host} became free in time. Set more connections if your account allows them.",
            NntpFault.NoProvider => "No provider is set up. Add one.",
            _ => throw new ArgumentOutOfRangeException(nameof(fault), fault, null),
        };
    }

    /// <summary>The port was asked for TLS and speaks none.</summary>
    public static string PlainPort(ProviderOptions provider) => string.Create(
        CultureInfo.InvariantCulture, $"Port {provider.Port} of {provider.Host} speaks no TLS. Use port 563, or switch TLS off.");

    /// <summary>The port speaks TLS and was not asked for it.</summary>
    public static string TlsPort(ProviderOptions provider) => string.Create(
        CultureInfo.InvariantCulture, $"Port {provider.Port} of {provider.Host} speaks TLS. Switch TLS on, or use port 119.");

    /// <summary>What answers is something else.</summary>
    public static string NotNntp(ProviderOptions provider) => $"What answers at {Address(provider)} is no news server. Check host and port.";

    /// <summary>Host and port.</summary>
    public static string Address(ProviderOptions provider) => string.Create(CultureInfo.InvariantCulture, $"{provider.Host}:{provider.Port}");

    // Servers echo what they are sent.
    private static string Said(ProviderOptions provider, string? detail)
    {
        if (string.IsNullOrWhiteSpace(detail))
            return "";
        var words = provider.Password is { Length: > 0 } password ? detail.Replace(password, "********", StringComparison.OrdinalIgnoreCase) : detail;
        return $" (“{words.Trim()}”)";
    }
}

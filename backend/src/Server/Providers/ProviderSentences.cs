using System.Globalization;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>Explains provider faults to users and what to do about them. Pure. Never shows a password.</summary>
internal static class ProviderSentences
{
    /// <summary>Explains a fault. <paramref name="detail"/> is the server's text (<see cref="NntpException.Detail"/>), or null.</summary>
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
            NntpFault.GreetingRefused => $"{host} accepts no connections at the moment{said}. Try again later.",
            NntpFault.LoginRefused => $"{host} rejected the username or password{said}. Copy both from your account page: they often differ from the website login.",
            NntpFault.AccountRefused => $"{host} says that your account cannot be used{said}. Check whether it has expired or is used up.",
            NntpFault.TooManyConnections => $"{host} allows no more connections{said}. Stop other programs that use this account, or set fewer connections.",
            NntpFault.ConnectionClosed => $"{host} closed the connection. Retrying in a moment.",
            NntpFault.Stalled => $"{host} stopped sending. Retrying in a moment.",
            NntpFault.GivenUp => $"{host} was too slow, so others were asked. Retrying in a moment.",
            NntpFault.Broken => $"A fault in this program ended a connection to {host}. The log says more.",
            NntpFault.MalformedReply when said.Length > 0 => $"{host} sends articles without their names{said}, so that Sluice cannot tell one from another. If this is a proxy, connect to the provider itself.",
            NntpFault.MalformedReply => NotNntp(provider),
            NntpFault.WrongArticle => $"{host} sent other articles than those asked for. Retrying in a moment.",
            NntpFault.UnexpectedCode => $"{host} rejected a command that every Usenet server knows{said}. Retrying in a moment.",
            NntpFault.ArticleTooLarge => $"{host} sent more than an article may hold. Retrying in a moment.",
            NntpFault.NoConnection => $"No connection to {host} became free in time. Set more connections if your account allows them.",
            NntpFault.QuotaReached => $"The data cap of {host} is used up. Refill it, or wait for its reset.",
            NntpFault.NoProvider => "No provider is set up. Add one.",
            _ => throw new ArgumentOutOfRangeException(nameof(fault), fault, null),
        };
    }

    /// <summary>Returns the rest of a sentence that starts with the provider's name.</summary>
    public static string Short(NntpFault fault) => fault switch
    {
        NntpFault.NameNotResolved => "has a host name that cannot be found.",
        NntpFault.ConnectFailed => "cannot be reached.",
        NntpFault.ConnectTimeout => "does not answer in time.",
        NntpFault.TlsFailed => "does not agree on TLS, or has a certificate that is not valid.",
        NntpFault.LoginRefused => "rejected the username or password.",
        NntpFault.TooManyConnections => "allows no more connections.",
        NntpFault.Stalled => "sends nothing for too long.",
        NntpFault.ConnectionClosed => "closes its connections.",
        _ => "fails again and again.",
    };

    /// <summary>Returns the rest of a sentence about a data cap that deserves a warning; it starts with the provider's name.</summary>
    public static string Short(QuotaUse use)
    {
        var next = use.NextReset is { } day ? string.Create(CultureInfo.InvariantCulture, $" It begins again on {day:d MMMM}.") : " Refill the block once you have bought more.";
        return use.State == QuotaState.Spent
            ? $"has used up its data cap and is not asked for articles.{next}"
            : string.Create(CultureInfo.InvariantCulture, $"has used {100.0 * use.Used / use.Limit:0} % of its data cap.{next}");
    }

    /// <summary>TLS is on, but the port speaks plain text.</summary>
    public static string PlainPort(ProviderOptions provider) => string.Create(
        CultureInfo.InvariantCulture, $"Port {provider.Port} of {provider.Host} does not use TLS. Use port 563, or turn TLS off.");

    /// <summary>TLS is off, but the port speaks TLS.</summary>
    public static string TlsPort(ProviderOptions provider) => string.Create(
        CultureInfo.InvariantCulture, $"Port {provider.Port} of {provider.Host} requires TLS. Turn TLS on, or use port 119.");

    /// <summary>Another kind of server answers.</summary>
    public static string NotNntp(ProviderOptions provider) => $"{Address(provider)} is not a Usenet server. Check host and port.";

    public static string Address(ProviderOptions provider) => string.Create(CultureInfo.InvariantCulture, $"{provider.Host}:{provider.Port}");

    // Masks the password, because servers may echo it.
    private static string Said(ProviderOptions provider, string? detail)
    {
        if (string.IsNullOrWhiteSpace(detail))
            return "";
        var words = provider.Password is { Length: > 0 } password ? detail.Replace(password, "********", StringComparison.OrdinalIgnoreCase) : detail;
        return $" (“{words.Trim()}”)";
    }
}

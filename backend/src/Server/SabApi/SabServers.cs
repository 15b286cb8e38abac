using Sluice.Usenet.Nntp;

namespace Sluice.Server.SabApi;

/// <summary>Names of providers for clients, because clients must not learn their addresses.</summary>
internal static class SabServers
{
    /// <summary>Returns the nickname of a provider, or a numbered name if it has none.</summary>
    /// <param name="index">The position in the settings.</param>
    public static string NameOf(ProviderOptions options, int index) =>
        options.Name == options.Host ? string.Create(System.Globalization.CultureInfo.InvariantCulture, $"Provider {index + 1}") : options.Name;

    public static bool IsOptional(ProviderOptions options) => options.Kind is ProviderKind.BackupWithChecks or ProviderKind.BackupOnly;
}

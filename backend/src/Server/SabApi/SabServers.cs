using Sluice.Usenet.Nntp;

namespace Sluice.Server.SabApi;

/// <summary>Names of providers for clients, because addresses must not reach them.</summary>
internal static class SabServers
{
    /// <summary>The nickname, or a number if it has none.</summary>
    /// <param name="index">Its place in the settings.</param>
    public static string NameOf(ProviderOptions options, int index) =>
        options.Name == options.Host ? string.Create(System.Globalization.CultureInfo.InvariantCulture, $"Provider {index + 1}") : options.Name;

    /// <summary>Whether the provider is a backup.</summary>
    public static bool IsOptional(ProviderOptions options) => options.Kind is ProviderKind.BackupWithChecks or ProviderKind.BackupOnly;
}

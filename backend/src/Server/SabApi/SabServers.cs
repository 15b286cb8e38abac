using Sluice.Usenet.Nntp;

namespace Sluice.Server.SabApi;

/// <summary>Provider names for clients, because clients must not see provider addresses.</summary>
internal static class SabServers
{
    /// <summary>Returns a provider's nickname, or a numbered name if it has none.</summary>
    /// <param name="index">The provider's position in the settings.</param>
    public static string NameOf(ProviderOptions options, int index) =>
        options.Name == options.Host ? string.Create(System.Globalization.CultureInfo.InvariantCulture, $"Provider {index + 1}") : options.Name;

    public static bool IsOptional(ProviderOptions options) => options.Kind is ProviderKind.BackupWithChecks or ProviderKind.BackupOnly;
}

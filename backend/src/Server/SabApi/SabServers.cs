using Sluice.Usenet.Nntp;

namespace Sluice.Server.SabApi;

/// <summary>How providers are called towards clients, which never get addresses.</summary>
internal static class SabServers
{
    /// <summary>The nickname of a provider; one without is numbered.</summary>
    /// <param name="options">The provider.</param>
    /// <param name="index">Its place in the settings.</param>
    public static string NameOf(ProviderOptions options, int index) =>
        options.Name == options.Host ? string.Create(System.Globalization.CultureInfo.InvariantCulture, $"Provider {index + 1}") : options.Name;

    /// <summary>Whether a provider is asked only for what others lack.</summary>
    public static bool IsOptional(ProviderOptions options) => options.Kind is ProviderKind.BackupWithChecks or ProviderKind.BackupOnly;
}

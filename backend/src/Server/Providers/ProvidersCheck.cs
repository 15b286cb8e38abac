using Sluice.Server.Settings;

namespace Sluice.Server.Providers;

/// <summary>Refuses a list of providers of which an element could not be used.</summary>
internal sealed class ProvidersCheck : ISettingCheck
{
    /// <inheritdoc/>
    public string Key => "usenet.providers";

    /// <inheritdoc/>
    public IEnumerable<string> Errors(string value)
    {
        _ = ProviderJson.Read(value, out var warnings);
        return warnings.Select(warning => warning.Replace("usenet.providers: ", "", StringComparison.Ordinal) + ".");
    }
}

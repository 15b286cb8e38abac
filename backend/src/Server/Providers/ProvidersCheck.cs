using Sluice.Server.Settings;

namespace Sluice.Server.Providers;

/// <summary>Rejects a list of providers that contains an invalid element.</summary>
internal sealed class ProvidersCheck : ISettingCheck
{
    public string Key => "usenet.providers";

    public IEnumerable<string> Errors(string value)
    {
        _ = ProviderJson.Read(value, out var warnings);
        return warnings.Select(warning => warning.Replace("usenet.providers: ", "", StringComparison.Ordinal) + ".");
    }
}

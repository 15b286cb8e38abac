using Microsoft.Extensions.Options;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>Lists the problems with providers.</summary>
internal sealed class ProviderAttention(ProviderHost providers, ProviderQuotas quotas, SettingsSource settings, IOptionsMonitor<UsenetOptions> usenet)
{
    /// <summary>Returns failing providers, nearly used data caps, a missing provider, and invalid entries of the setting.</summary>
    public IEnumerable<AttentionRow> Rows()
    {
        _ = ProviderJson.Read(usenet.CurrentValue.Providers, out var elements);
        foreach (var warning in elements)
            yield return new(AttentionKind.Setting, AttentionLevel.Warning, warning + ".", ProviderEditor.Setting, null);

        // Locked providers are omitted, because they have no password. The row about the key file explains why.
        if (settings.Current.IsLocked(ProviderEditor.Setting))
            yield break;
        if (!providers.HasProviders)
            yield return new(AttentionKind.NoProvider, AttentionLevel.Error, "No provider is set up. Nothing can be fetched until one is.", null, null);

        var enabled = providers.Providers.Where(static provider => provider.Options.Kind != ProviderKind.Disabled).ToArray();
        var level = Array.TrueForAll(enabled, static provider => provider.Fault is not null || provider.Status?.Quota == QuotaState.Spent) ? AttentionLevel.Error : AttentionLevel.Warning;
        foreach (var provider in enabled)
        {
            if (provider.Fault is { } fault)
                yield return new(AttentionKind.ProviderFails, level, $"{provider.Options.Name} {ProviderSentences.Short(fault)}", provider.Options.Id.ToString("D"), null);
            if (provider.Options.Quota is null || quotas.Find(provider.Account) is not { Warning: > 0 } use)
                continue;
            yield return new(
                AttentionKind.ProviderQuota,
                use.State == QuotaState.Spent ? level : AttentionLevel.Warning,
                $"{provider.Options.Name} {ProviderSentences.Short(use)}",
                provider.Options.Id.ToString("D"),
                null);
        }
    }
}

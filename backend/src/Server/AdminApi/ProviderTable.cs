using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.AdminApi;

/// <summary>The providers of the settings as the API shows them.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the last looks; nothing else is taken under it. A speed is what came between two looks: nothing runs
/// while none is taken.
/// </remarks>
internal sealed class ProviderTable(ProviderHost providers, ProviderUsage usage, TimeProvider time)
{
    // Looks of several clients that come together are one.
    private static readonly TimeSpan ShortestLook = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, Look> _looks = [];

    /// <summary>All of them, in the order in which they are asked.</summary>
    public IReadOnlyList<ProviderRow> Rows()
    {
        var (states, uses, kept) = (providers.Providers, providers.Uses, usage.OfEach());
        return
        [
            .. states
                .OrderBy(state => state.Options.Kind == ProviderKind.Disabled)
                .ThenBy(state => state.Options.Kind)
                .ThenBy(state => state.Options.Priority)
                .Select(state => Row(state, Speed(state.Options.Id, uses.GetValueOrDefault(state.Options.Id).Bytes), kept.GetValueOrDefault(state.Options.Id))),
        ];
    }

    /// <summary>One of them; null when there is none of this id.</summary>
    public ProviderRow? Find(Guid id) => Rows().FirstOrDefault(row => row.Id == id.ToString());

    private static ProviderRow Row(ProviderState state, long speed, (ProviderUse Total, ProviderUse Today) use)
    {
        var (options, status) = (state.Options, state.Status);
        var isUsed = options.Kind != ProviderKind.Disabled;
        var fault = isUsed ? state.Fault : null;
        return new ProviderRow(
            options.Id.ToString(),
            options.Name,
            options.Host,
            options.Port,
            options.UseTls,
            options.SkipTlsVerification,
            options.User ?? "",
            options.Password is not null,
            isUsed ? options.Kind == ProviderKind.Pooled ? ProviderUseKind.Primary : ProviderUseKind.Backup : ProviderUseKind.Disabled,
            options.Priority,
            options.Backbone,
            isUsed ? ConditionOf(fault) : ProviderCondition.Disabled,
            fault is { } broken ? ProviderSentences.Of(broken, options, status?.Detail) : null,
            new ProviderConnections(status?.Changing ?? 0, status?.Idle ?? 0, status?.Busy ?? 0, options.MaxConnections, status?.Cap),
            speed,
            use.Today.Bytes,
            use.Total.Bytes,
            use.Total.Tried > 0 ? 100.0 * (use.Total.Tried - use.Total.Found) / use.Total.Tried : null,
            status?.Latency?.TotalMilliseconds);
    }

    private static ProviderCondition ConditionOf(NntpFault? fault) => fault switch
    {
        null => ProviderCondition.Ok,
        NntpFault.LoginRefused or NntpFault.AccountRefused or NntpFault.CertificateRefused or NntpFault.TlsFailed or NntpFault.NameNotResolved => ProviderCondition.Refused,
        _ => ProviderCondition.Resting,
    };

    private long Speed(Guid provider, long bytes)
    {
        lock (_gate)
        {
            var now = time.GetTimestamp();
            if (!_looks.TryGetValue(provider, out var last))
            {
                _looks[provider] = new Look(now, bytes, 0);
                return 0;
            }

            var since = time.GetElapsedTime(last.At, now);
            if (since < ShortestLook)
                return last.Speed;
            var speed = (long)((bytes - last.Bytes) / since.TotalSeconds);
            _looks[provider] = new Look(now, bytes, speed);
            return speed;
        }
    }

    private readonly record struct Look(long At, long Bytes, long Speed);
}

namespace Sluice.Usenet.Nntp;

/// <summary>The use of an account with a data cap.</summary>
public enum QuotaState : byte
{
    /// <summary>Everything: the account has no cap, or has not reached its reserve.</summary>
    Free,

    /// <summary>Only the reserve is left, so the account serves only articles missing at the other accounts.</summary>
    FillOnly,

    /// <summary>Nothing: the next article does not fit. The account counts as unanswered.</summary>
    Spent,
}

/// <summary>The data cap of an account, as in the settings, with the decisions based on it (HLT-100 to HLT-105). Immutable and pure.</summary>
/// <param name="ByteLimit">Bytes per period, or of the whole block; at least 0.</param>
public sealed record DataQuota(long ByteLimit)
{
    /// <summary>The latest day of reset, because every month has it.</summary>
    public const int LastResetDay = 28;

    /// <summary>The largest reserve in percent.</summary>
    public const int MaxReservePercent = 90;

    /// <summary>Day of the month on which the period begins, at local midnight: 1 to 28. 0 for a block, which ends.</summary>
    public int ResetDay { get; init; }

    /// <summary>Percentage of the cap reserved for articles missing at the other accounts; 0 to 90.</summary>
    public int ReservePercent { get; init; }

    /// <summary>Bytes used before <see cref="UsedBeforeAt"/>, for example in another program.</summary>
    public long UsedBefore { get; init; }

    /// <summary>When <see cref="UsedBefore"/> was entered; null if it precedes all counted bytes.</summary>
    public DateTimeOffset? UsedBeforeAt { get; init; }

    public bool IsBlock => ResetDay == 0;

    // Divided first, because a limit times a percentage can overflow.
    private long Reserve => (ByteLimit / 100 * ReservePercent) + (ByteLimit % 100 * ReservePercent / 100);

    /// <summary>Decides whether an account is asked for an article of the usual size.</summary>
    /// <param name="used">Bytes used in this period; negative after a refill of more than was used.</param>
    public QuotaState StateAt(long used) => StateAt(used, ArticleRequest.UsualBytes);

    /// <summary>Decides whether an account is asked for its next article.</summary>
    /// <param name="used">Bytes used in this period; negative after a refill of more than was used.</param>
    /// <param name="next">Expected bytes of the article.</param>
    public QuotaState StateAt(long used, long next)
    {
        var left = Left(used);
        return next > left ? QuotaState.Spent : left <= Reserve ? QuotaState.FillOnly : QuotaState.Free;
    }

    /// <summary>Bytes left in this period; negative once the cap is exceeded.</summary>
    public long Left(long used) => ByteLimit - used;

    /// <summary>The first day of the period that contains <paramref name="today"/>; the first of all days for a block.</summary>
    public DateOnly PeriodOf(DateOnly today)
    {
        if (IsBlock)
            return DateOnly.MinValue;
        var begin = new DateOnly(today.Year, today.Month, ResetDay);
        return begin > today ? begin.AddMonths(-1) : begin;
    }

    /// <summary>The day of the next reset; null for a block.</summary>
    public DateOnly? NextReset(DateOnly today)
    {
        if (IsBlock)
            return null;
        var begin = new DateOnly(today.Year, today.Month, ResetDay);
        return begin > today ? begin : begin.AddMonths(1);
    }
}

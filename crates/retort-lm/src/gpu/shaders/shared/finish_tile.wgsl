    // The end of both tiled products: each thread's sums to their places.
#repeat r THREAD_ROWS
    {
        let row = first_row + local.y + $ru * $GRID_ROWSu;
#if GATED
        let column = first_weight_row / 2u + local.x;
        finish(row, column, sums_$r_0.x, sums_$r_0.y);
        finish(row, column + 8u, sums_$r_0.z, sums_$r_0.w);
        finish(row, column + 16u, sums_$r_1.x, sums_$r_1.y);
        finish(row, column + 24u, sums_$r_1.z, sums_$r_1.w);
#else
        let column = first_weight_row + local.x;
        finish(row, column, sums_$r_0.x);
        finish(row, column + 8u, sums_$r_0.y);
        finish(row, column + 16u, sums_$r_0.z);
        finish(row, column + 24u, sums_$r_0.w);
        finish(row, column + 32u, sums_$r_1.x);
        finish(row, column + 40u, sums_$r_1.y);
        finish(row, column + 48u, sums_$r_1.z);
        finish(row, column + 56u, sums_$r_1.w);
#end
    }
#end
